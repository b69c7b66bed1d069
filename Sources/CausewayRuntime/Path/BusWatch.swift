package import CausewayProtocols
internal import CausewaySystem

/// Follows programs over the system's message bus, where there is one: what they say is the client's business.
///
/// Confined to its loop. It sleeps until the bus says something, and ends when the bus does.
final class BusWatch<Client: BusClient & ~Copyable>: NetworkChangeMonitor.Watch, ReadinessHandler {
    private struct Feed: ~Copyable {
        var client: Client
        var told: Client.News
        /// What the socket did not take yet.
        var unsent: ArraySlice<UInt8> = []
        let descriptor: Descriptor
        var registration: Registration
    }

    /// How much one turn reads, in bytes: other events of the loop come between.
    private static var turnLimit: Int { 16 }
    private static var chunk: Int { 16 * 1024 }

    private let loop: any EventLoop
    private let report: @Sendable (Client.News?) -> Void
    private let feed: LoopBound<Feed?>

    /// `nil` where there is no bus. To be called on the loop.
    ///
    /// - Parameter report: Called on the loop with what is said now, each time it differs, and with `nil` when the bus is gone.
    init?(on loop: any EventLoop, _ client: consuming Client, report: @escaping @Sendable (Client.News?) -> Void) {
        self.loop = loop
        self.report = report
        feed = LoopBound(nil, to: loop)
        guard let descriptor = SystemBus.connect(),
            let registration = try? loop.register(descriptor.rawValue, for: .stream, self)
        else { return nil }
        let told = client.news
        feed.value = Feed(client: client, told: told, descriptor: descriptor, registration: registration)
        if !flush() { stop() }
        if feed.value == nil { return nil }
    }

    func ready(for readiness: Readiness) {
        guard flush(), receive(), flush() else {
            // It may have been cancelled meanwhile; who cancels wants to hear nothing.
            if stop() { report(nil) }
            return
        }
    }

    /// From any thread.
    func cancel() { loop.execute { self.stop() } }

    @discardableResult
    private func stop() -> Bool {
        guard let feed = feed.value.take() else { return false }
        let registration = feed.registration
        loop.close(registration, feed.descriptor)
        return true
    }

    /// Reads what is there. Returns whether more may come.
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
        // What is left is reported again.
        loop.update(registration, descriptor, for: .stream)
        return true
    }

    /// Tells what is new. Returns whether the conversation goes on.
    private func hasTold() -> Bool {
        guard let news = feed.value?.client.news, feed.value?.client.end == nil else { return false }
        guard news != feed.value?.told else { return true }
        feed.value?.told = news
        report(news)
        return true
    }

    /// Sends what is to be sent. Returns whether the bus takes it, now or later.
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
    /// Begins to follow the programs that manage networks, on ``Engine/networkLoop``; `nil` where there are none to be found. The
    /// report is called there with what they say, each time it differs, and with `nil` when they can be heard no more.
    package typealias Managers =
        @Sendable (_ report: @escaping @Sendable (InterfaceFacts?) -> Void) -> (any NetworkChangeMonitor.Watch)?

    /// Those that the system's message bus knows.
    package static let systemManagers: Managers = { report in
        BusWatch(on: Engine.networkLoop, InterfaceManagers(user: System.user), report: report)
    }
}
