import CausewayHTTPProtocols
import CausewaySystem
import CausewayTypes
import FoundationEssentials

@testable import CausewayHTTP

/// A clock that moves only when a test moves it.
final class ManualClock: HTTPClock {
    private struct State {
        var now = Duration.zero
        var timers: [(due: Duration, body: @Sendable () -> Void)] = []
    }

    private let state = LockedValue(State())

    var now: Duration { state.withLock { state in state.now } }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        state.withLock { state in state.timers.append((state.now + delay, body)) }
    }

    /// Moves the clock forward, and runs each timer whose time has come.
    func advance(by step: Duration) {
        let due = state.withLock { state in
            state.now += step
            let due = state.timers.filter { $0.due <= state.now }.map(\.body)
            state.timers.removeAll { $0.due <= state.now }
            return due
        }
        for body in due { body() }
    }
}

/// A simulated transport: the test acts as its peer. Each send completes immediately. A receive completes when the test
/// delivers data.
final class FakeTransport: HTTPTransport {
    private struct State {
        var report: (@Sendable (HTTPTransportEvent) -> Void)?
        var receiver: (@Sendable (HTTPArrival) -> Void)?
        var limit = 0
        var sent = Data()
        /// Number of sent bytes that ``takeSent()`` has returned.
        var takenCount = 0
        var isClosed = false
        /// The completions of send calls. While ``holdsSends`` is `true`, the test holds these completions back.
        var completions: [@Sendable (NWError?) -> Void] = []
        var holdsSends = false
        var early: Data?
    }

    private let state = LockedValue(State())
    let earlyProtocol: String?

    init(earlyProtocol: String? = nil) { self.earlyProtocol = earlyProtocol }

    /// The early data that the test subject has sent; `nil` if there is none.
    var earlyData: Data? { state.withLock { state in state.early } }
    var early: String? { earlyData.map { String(decoding: $0, as: UTF8.self) } }

    func sendEarly(_ content: Data) {
        state.withLock { state in
            precondition(state.report == nil && state.early == nil, "early data is not first, or late")
            state.early = content
        }
    }

    var sent: String { String(decoding: state.withLock { state in state.sent }, as: UTF8.self) }
    var isClosed: Bool { state.withLock { state in state.isClosed } }
    /// The maximum length of the pending receive; `nil` if there is none.
    var wanted: Int? { state.withLock { state in state.receiver == nil ? nil : state.limit } }

    func start(_ report: @escaping @Sendable (HTTPTransportEvent) -> Void) {
        state.withLock { state in state.report = report }
    }

    func receive(atMost limit: Int, _ completion: @escaping @Sendable (HTTPArrival) -> Void) {
        state.withLock { state in (state.receiver, state.limit) = (completion, limit) }
    }

    func send(_ content: Data, _ completion: @escaping @Sendable (NWError?) -> Void) {
        let isHeld = state.withLock { state in
            state.sent += content
            if state.holdsSends { state.completions.append(completion) }
            return state.holdsSends
        }
        if !isHeld { completion(nil) }
    }

    func sendEnd(_ completion: @escaping @Sendable (NWError?) -> Void) {
        state.withLock { state in state.sent += Data("<end>".utf8) }
        completion(nil)
    }

    func close(isInterrupted: Bool) {
        let report = state.withLock { state in
            state.isClosed = true
            state.receiver = nil
            return state.report.take()
        }
        withExtendedLifetime(report) {}
    }

    // MARK: The peer

    func report(_ event: HTTPTransportEvent) { state.withLock { state in state.report }?(event) }

    func connect(_ applicationProtocol: String? = nil) {
        report(.ready(HTTPTransportFacts(applicationProtocol: applicationProtocol)))
    }

    /// Returns the bytes that were sent since the last call.
    func takeSent() -> [UInt8] {
        state.withLock { state in
            defer { state.takenCount = state.sent.count }
            return Array(state.sent.dropFirst(state.takenCount))
        }
    }

    /// With `true`, holds back the completions of sends. With `false`, completes all waiting sends.
    func holdSends(_ holds: Bool) {
        let completions = state.withLock { state in
            state.holdsSends = holds
            defer { state.completions = [] }
            return state.completions
        }
        for completion in completions { completion(nil) }
    }

    func deliver(_ arrival: HTTPArrival) { state.withLock { state in state.receiver.take() }?(arrival) }
    func deliver(_ text: String) { deliver(HTTPArrival(content: Data(text.utf8))) }
}

/// Creates fake transports for HTTP connections. The test controls them.
final class FakeDialer: HTTPDialer {
    /// The application protocol with which transports can send early data; `nil` if no transport can.
    let earlyProtocol: String?
    private let made = LockedValue<[(transport: FakeTransport, offersHTTP2: Bool, alternative: AlternativeService?)]>([]
    )

    init(earlyProtocol: String? = nil) { self.earlyProtocol = earlyProtocol }

    var transports: [FakeTransport] { made.withLock { made in made.map(\.transport) } }
    /// For each transport made so far, whether it offers HTTP/2.
    var offers: [Bool] { made.withLock { made in made.map(\.offersHTTP2) } }
    /// The alternative service to which each transport connects; `nil` for the origin.
    var alternatives: [AlternativeService?] { made.withLock { made in made.map(\.alternative) } }

    func makeTransport(
        to key: PoolKey, at alternative: AlternativeService?, offersHTTP2: Bool
    ) -> any HTTPTransport {
        let transport = FakeTransport(earlyProtocol: earlyProtocol)
        made.withLock { made in made.append((transport, offersHTTP2, alternative)) }
        return transport
    }
}
