internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// One attempt to use a transport: the protocols above it and the closure to which their outcome is reported.
struct StackAttempt: Sendable {
    /// Identifies the attempt. Results that carry another number are ignored.
    private(set) var number: UInt64 = 0
    var stack: ProtocolStack?
    var delegates: [ProtocolStack.StageID: any StageDelegate] = [:]
    var report: (@Sendable (StackChannel.Outcome) -> Void)?
    /// The outcome that was not reported yet; `nil` if there is none.
    var outcome: StackChannel.Outcome?
    var opening = StackOpening(limit: .zero, from: .zero, isAccepted: false)
    /// Whether the protocols have closed or failed. After that, they produce no more output.
    var hasStackClosed = false

    /// Whether the protocols have failed and this outcome was not reported yet.
    var hasFailed: Bool { if case .failed = outcome { true } else { false } }

    /// Begins the next attempt.
    mutating func start(
        _ stack: ProtocolStack, _ layers: [ProtocolStack.StageID: StackLayer], _ opening: StackOpening,
        _ report: @escaping @Sendable (StackChannel.Outcome) -> Void
    ) {
        number += 1
        delegates = layers.compactMapValues(\.delegate)
        (self.stack, self.opening, self.report) = (stack, opening, report)
        (outcome, hasStackClosed) = (nil, false)
    }

    /// Ends the protocols at once.
    mutating func abort(_ failure: Failure) {
        stack?.abort(failure)
        hasStackClosed = true
    }

    mutating func forgetReports() { (report, outcome) = (nil, nil) }
}

/// The time limits for one attempt's handshakes.
struct StackOpening: Sendable {
    /// How long an accepted peer may take to send its first bytes. A peer that has sent bytes has the full time limit
    /// of the handshakes.
    static let silenceLimit = Duration.seconds(10)

    let limit: Duration
    var deadline: Duration
    /// When the peer's latest bytes arrived.
    private var lastHeard: Duration?
    private let start: Duration
    private let isAccepted: Bool
    /// The attempt's timer. It runs until the handshakes have ended.
    var timer: TimerID?
    var ticket: UnfinishedOpenings.Ticket?

    init(limit: Duration, from start: Duration, isAccepted: Bool) {
        (self.limit, self.start, self.isAccepted) = (limit, start, isAccepted)
        deadline = start + limit
    }

    mutating func end() { (timer, ticket) = (nil, nil) }

    /// Records that the peer has sent bytes.
    mutating func heard(at now: @autoclosure () -> Duration) { if timer != nil { lastHeard = now() } }

    /// Whether an accepted peer has sent nothing yet. The handshakes with such a peer are aborted when the timer fires.
    var isSilent: Bool { isAccepted && lastHeard == nil }

    /// Returns how long the peer has been silent.
    func silence(at now: Duration) -> Duration { now - (lastHeard ?? start) }
}
