internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// One attempt to establish protocols over a transport.
///
/// It contains the protocols, and the closure that receives the outcome.
struct StackAttempt: Sendable {
    /// The number of this attempt. A result with another number belongs to another attempt, and is discarded.
    private(set) var number: UInt64 = 0
    var stack: ProtocolStack?
    var delegates: [ProtocolStack.StageID: any StageDelegate] = [:]
    var report: (@Sendable (StackChannel.Outcome) -> Void)?
    /// The outcome of the attempt, until it is reported. Otherwise `nil`.
    var outcome: StackChannel.Outcome?
    var opening = StackOpening(limit: .zero, from: .zero, isAccepted: false)
    /// Whether the protocols have closed or failed. After that, they produce no more output.
    var hasStackClosed = false

    /// Whether the protocols have failed, but the failure was not reported yet.
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

    /// Aborts the protocols at once because of `failure`.
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
    /// The time at which bytes last arrived from the peer.
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

    /// Records that bytes from the peer have arrived, with the time.
    mutating func heard(at now: @autoclosure () -> Duration) { if timer != nil { lastHeard = now() } }

    /// Whether the peer of an accepted connection has sent nothing so far. If this is still so when the timer fires,
    /// the handshakes with this peer are aborted.
    var isSilent: Bool { isAccepted && lastHeard == nil }

    /// Returns how long the peer has been silent.
    func silence(at now: Duration) -> Duration { now - (lastHeard ?? start) }
}
