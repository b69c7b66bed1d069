internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import Dispatch

/// The host's resolver files. They are read on first use, and again after each change.
///
/// Safe to use from any thread.
final class ResolverSettings: Sendable {
    struct Value: Sendable {
        var context = ResolverEnvironment()
        var servers: [DNSServer] = []
        /// The number of times that the files have been read.
        var generation = 0
    }

    private struct State {
        var value: Value?
        var isWatched = false
    }

    private let files: ResolverFiles
    private let state = LockedValue(State())
    /// Reading a file may block on the disk, which must not happen on a loop.
    private let queue = DispatchQueue(label: "causeway.resolver-files", target: .global())

    private let port: UInt16

    init(_ files: ResolverFiles, port: UInt16) {
        self.files = files
        self.port = port
    }

    /// The current settings. Reads the files on the caller's thread until they are watched.
    var current: Value {
        let known = state.withLock { state in state.isWatched ? state.value : nil }
        return known ?? reload()
    }

    @discardableResult
    func reload() -> Value {
        var value = Value()
        let (configuration, servers) = files.configuration()
        value.context.configuration = configuration
        value.context.hosts = files.hosts()
        value.context.order = files.order()
        value.context.ownName = DNSName.host(SystemHost.name)?.name
        // If the file names no server, the default is a server on this host (resolv.conf(5)).
        let addresses = servers.isEmpty ? [.ipv4(.loopback)] : servers
        value.servers = addresses.map { DNSServer($0, port: port) }
        let read = value
        return state.withLock { state in
            var value = read
            value.generation = (state.value?.generation ?? 0) + 1
            state.value = value
            return value
        }
    }

    /// Watches the files, and calls `changed` on the loop each time they have been read. If they cannot be watched,
    /// every access to ``current`` reads them again.
    func follow(on loop: any EventLoop, _ changed: @escaping @Sendable () -> Void) {
        follow(on: loop, after: nil, changed)
    }

    private func follow(
        on loop: any EventLoop, after old: ConfigurationFeed?, _ changed: @escaping @Sendable () -> Void
    ) {
        // Wait, because programs often write a file in several steps. Use the loop's timer: a Dispatch timer needs
        // descriptors, and ends the process if there are none.
        waiting(old == nil ? .zero : Self.gathering, on: loop) { [self] in
            // Start the watch before reading the files, so that no later change is missed. Create a new watch each
            // time, because a path may be a link that now leads to another file.
            let watch = openWatch()
            reload()
            loop.execute {
                old?.close()
                let feed = watch.map { watch in
                    ConfigurationFeed(watch.descriptor, watch.names, loop) { feed in
                        self.follow(on: loop, after: feed, changed)
                    }
                }
                let isWatched = feed?.start() ?? false
                self.state.withLock { $0.isWatched = isWatched }
                changed()
            }
        }
    }

    private func waiting(_ delay: Duration, on loop: any EventLoop, _ body: @escaping @Sendable () -> Void) {
        guard delay > .zero else { return queue.async(execute: body) }
        _ = loop.schedule(after: delay) { [queue] in queue.async(execute: body) }
    }

    private func openWatch() -> (descriptor: CInt, names: [String])? {
        do {
            let watch = try FileWatch(files.paths)
            let names = watch.fileNames
            return (watch.release(), names)
        } catch {
            return nil
        }
    }

    private static let gathering = Duration.milliseconds(20)
}

/// A descriptor that becomes readable when a file changes. Confined to its loop.
private final class ConfigurationFeed: ReadinessHandler {
    private let descriptor: CInt
    private let names: [String]
    private let loop: any EventLoop
    private let changed: @Sendable (ConfigurationFeed) -> Void
    private let registration: LoopBound<Registration?>

    init(
        _ descriptor: CInt, _ names: [String], _ loop: any EventLoop,
        _ changed: @escaping @Sendable (ConfigurationFeed) -> Void
    ) {
        self.descriptor = descriptor
        self.names = names
        self.loop = loop
        self.changed = changed
        registration = LoopBound(nil, to: loop)
    }

    func start() -> Bool {
        registration.value = try? loop.register(descriptor, for: .readable, self)
        if registration.value == nil { Descriptor(adopting: descriptor).close() }
        return registration.value != nil
    }

    func close() {
        guard let registration = registration.value.take() else { return }
        loop.close(registration, Descriptor(adopting: descriptor))
    }

    func ready(for readiness: Readiness) {
        guard registration.value != nil else { return }
        if FileWatch.drain(descriptor, names) { return changed(self) }
        if let registration = registration.value { loop.await(.readable, of: registration) }
    }
}
