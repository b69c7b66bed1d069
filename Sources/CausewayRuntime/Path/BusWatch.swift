package import CausewayProtocols
internal import CausewaySystem

/// Connects a ``BusClient`` to the system message bus, if there is one.
///
/// Confined to its loop. The watch uses no CPU time until the bus sends a message, and ends when the connection to the
/// bus ends.
final class BusWatch<Client: BusClient & ~Copyable>: NetworkChangeMonitor.Watch, ReadinessHandler {
    private struct Feed: ~Copyable {
        var client: Client
        var told: Client.Status
        /// Bytes that the socket has not accepted yet.
        var unsent: ArraySlice<UInt8> = []
        let descriptor: Descriptor
        var registration: Registration
    }

    /// The limits for reading from the message bus. At most `turnLimit` reads follow one another, so that other events
    /// on the loop are not delayed. Each read returns at most `chunk` bytes.
    private static var turnLimit: Int { 16 }
    private static var chunk: Int { 16 * 1024 }

    private let loop: any EventLoop
    private let report: @Sendable (Client.Status?) -> Void
    private let feed: LoopBound<Feed?>

    /// Connects to the bus. Returns `nil` if there is no bus. Call this initializer on the loop.
    ///
    /// - Parameters:
    ///   - loop: The loop for the bus connection.
    ///   - client: The bus protocol's state machine.
    ///   - report: Called on the loop with each new state, and with `nil` when the connection has ended.
    init?(on loop: any EventLoop, _ client: consuming Client, report: @escaping @Sendable (Client.Status?) -> Void) {
        self.loop = loop
        self.report = report
        feed = LoopBound(nil, to: loop)
        guard let descriptor = SystemBus.connect(),
            let registration = try? loop.register(descriptor.rawValue, for: .stream, self)
        else { return nil }
        let told = client.status
        feed.value = Feed(client: client, told: told, descriptor: descriptor, registration: registration)
        if !flush() { stop() }
        if feed.value == nil { return nil }
    }

    func ready(for readiness: Readiness) {
        guard flush(), receive(), flush() else {
            // Report that the connection to the bus has ended, unless the watch was already cancelled.
            if stop() { report(nil) }
            return
        }
    }

    /// Ends the watch. May be called from any thread.
    func cancel() { loop.execute { self.stop() } }

    @discardableResult
    private func stop() -> Bool {
        guard let feed = feed.value.take() else { return false }
        let registration = feed.registration
        loop.close(registration, feed.descriptor)
        return true
    }

    /// Reads the bytes that have arrived on the bus connection. Returns `false` if the watch was stopped or the
    /// connection has ended.
    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: Self.chunk)
        for _ in 0..<Self.turnLimit {
            guard let (descriptor, registration) = place else { return false }
            switch buffer.withUnsafeMutableBytes({ Socket.receive(descriptor, into: $0) }) {
            case .moved(0), .failed: return false
            case .moved(let count):
                feed.value?.client.receive(Array(buffer[..<count]))
                guard hasTold() else { return false }
            case .wouldBlock:
                loop.await(.readable, of: registration)
                return true
            }
        }
        guard let (descriptor, registration) = place else { return false }
        // Bytes are left to read. Update the registration, so that the loop reports them.
        loop.update(registration, descriptor, for: .stream)
        return true
    }

    /// Reports the state if it has changed since the last report. Returns `false` if the watch was stopped, or if the
    /// message exchange with the bus has ended.
    private func hasTold() -> Bool {
        guard let status = feed.value?.client.status, feed.value?.client.end == nil else { return false }
        guard status != feed.value?.told else { return true }
        feed.value?.told = status
        report(status)
        return true
    }

    /// Sends as many pending bytes as the socket accepts. Returns `false` if the connection has failed.
    private func flush() -> Bool {
        if let new = feed.value?.client.takeOutput() { feed.value?.unsent += new }
        while let unsent = feed.value?.unsent, !unsent.isEmpty, let (descriptor, registration) = place {
            switch unsent.withUnsafeBytes({ Socket.send(descriptor, $0) }) {
            case .moved(let count): feed.value?.unsent = unsent.dropFirst(count)
            case .wouldBlock:
                loop.await(.writable, of: registration)
                return true
            case .failed: return false
            }
        }
        return true
    }

    private var place: (CInt, Registration)? {
        guard let descriptor = feed.value?.descriptor.rawValue, let registration = feed.value?.registration else {
            return nil
        }
        return (descriptor, registration)
    }
}

extension NetworkStateMonitor {
    /// A function that starts to watch the network managers, on ``Engine/networkLoop``. It returns `nil` if there is no
    /// message bus.
    ///
    /// The loop calls `report` with each new set of interface information. When the watch has ended, it calls `report`
    /// with `nil`.
    package typealias Managers =
        @Sendable (_ report: @escaping @Sendable (InterfaceFacts?) -> Void) -> (any NetworkChangeMonitor.Watch)?

    /// Watches the host's network managers over the system message bus.
    package static let systemManagers: Managers = { report in
        BusWatch(on: Engine.networkLoop, InterfaceManagers(user: System.user), report: report)
    }
}
