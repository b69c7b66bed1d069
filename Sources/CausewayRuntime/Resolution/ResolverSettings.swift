internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import Dispatch

/// The settings from the host's resolver files. Reads the files on first use, and again after each change.
///
/// Reading a file may block on the disk. So an event loop never reads a file. It uses ``current``, or waits with
/// ``whenRead(on:_:)``. Safe to use from any thread.
final class ResolverSettings: Sendable {
    struct Value: Sendable {
        var context = ResolverEnvironment()
        var servers: [DNSServer] = []
        /// The servers that answer. They differ from ``servers`` if this host queries a local forwarder, which forwards
        /// to these servers.
        var answering: [InternetAddress] = []
    }

    private enum Phase {
        /// The files have not been read completely yet. The closures are called when the reading is complete.
        case unread([@Sendable (Value) -> Void])
        /// The files are watched for changes. So this value is always current.
        case watched(Value)
        /// The files cannot be watched for changes. The stored value is the result of the latest read.
        case unwatched(Value)

        /// The latest value read; the defaults before the first reading.
        var latest: Value {
            switch self {
            case .unread: Value()
            case .watched(let value), .unwatched(let value): value
            }
        }
    }

    private let files: ResolverFiles
    private let phase = LockedValue(Phase.unread([]))
    /// Called on the loop each time the files have been read.
    private let changed = LockedValue<(@Sendable () -> Void)?>(nil)
    /// The queue on which the resolver files are read. Only one read runs at a time.
    let queue = DispatchQueue(label: "causeway.resolver-files", target: .global())

    private let port: UInt16

    init(_ files: ResolverFiles, port: UInt16) {
        self.files = files
        self.port = port
    }

    /// The current settings; `nil` before the first reading, and also if the files cannot be watched for changes.
    var current: Value? {
        phase.withLock { phase -> Value? in if case .watched(let value) = phase { value } else { nil } }
    }

    /// The latest settings read; the defaults before the first reading.
    var latest: Value { phase.withLock { $0.latest } }

    /// Calls `body` on the loop with the current settings. If the current settings are known, `body` is called before
    /// this method returns. Call this on the loop, after ``follow(on:_:)``.
    func whenRead(on loop: any EventLoop, _ body: @escaping @Sendable (Value) -> Void) {
        let (known, mustRead) = phase.withLock { phase -> (Value?, Bool) in
            switch phase {
            case .unread(var waiting):
                // Take the array out of `phase` before it is changed. Otherwise, `append` would copy it.
                phase = .unread([])
                waiting.append(body)
                phase = .unread(waiting)
                return (nil, false)
            case .watched(let value): return (value, false)
            case .unwatched: return (nil, true)
            }
        }
        if let known { return body(known) }
        guard mustRead else { return }
        queue.async {
            let value = self.read()
            loop.execute {
                self.phase.withLock { phase in if case .unwatched = phase { phase = .unwatched(value) } }
                self.changed.withLock { $0 }?()
                body(value)
            }
        }
    }

    /// Reads the files on the caller's thread, unless the settings are current. May block, so do not call this method
    /// on an event loop.
    func readNow() -> Value { current ?? read() }

    private func read() -> Value {
        var value = Value()
        let (configuration, servers) = files.configuration()
        value.context.configuration = configuration
        value.context.hosts = files.hosts()
        value.context.order = files.order()
        value.context.ownName = DNSName.host(SystemHost.name)?.name
        // If the file names no server, the default is a server on this host (resolv.conf(5)).
        let addresses = servers.isEmpty ? [.ipv4(.loopback)] : servers
        value.servers = addresses.map { DNSServer($0, port: port) }
        value.answering = files.answeringServers()
        return value
    }

    /// Watches the files, and calls `changed` on the loop each time they have been read. If the files cannot be
    /// watched, each call of ``whenRead(on:_:)`` reads them.
    func follow(on loop: any EventLoop, _ changed: @escaping @Sendable () -> Void) {
        self.changed.withLock { $0 = changed }
        follow(on: loop, after: nil)
    }

    private func follow(on loop: any EventLoop, after old: ConfigurationFeed?) {
        // Wait before reading, because programs often write a file in several steps. Use the loop's timer for this
        // wait. A Dispatch timer needs descriptors, and Dispatch ends the process if there are none.
        waiting(old == nil ? .zero : Self.gathering, on: loop) { [self] in
            // Start the watch before reading the files, so that no later change is missed. Create a new watch each
            // time, because a path may be a link that now leads to another file.
            let watch = openWatch()
            let value = read()
            loop.execute {
                old?.close()
                let feed = watch.map { watch in
                    ConfigurationFeed(watch.descriptor, watch.names, loop) { feed in
                        self.follow(on: loop, after: feed)
                    }
                }
                let waiting = self.adopt(value, isWatched: feed?.start() ?? false)
                self.changed.withLock { $0 }?()
                for body in waiting { body(value) }
            }
        }
    }

    /// Stores the settings. Returns the closures that were waiting for them.
    private func adopt(_ value: Value, isWatched: Bool) -> [@Sendable (Value) -> Void] {
        phase.withLock { phase in
            defer { phase = isWatched ? .watched(value) : .unwatched(value) }
            if case .unread(let waiting) = phase { return waiting } else { return [] }
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

/// Watches the files through a descriptor that becomes readable when a file changes. Confined to its loop.
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
