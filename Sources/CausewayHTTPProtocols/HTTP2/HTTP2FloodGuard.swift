internal import CausewayWire

/// Limits the work that a peer can cause without useful messages: resets, pings, settings and empty frames.
///
/// Each budget refills over time, so that normal use of a long-lived connection does not exhaust it. RFC 9113 §10.5
/// lists the attacks.
struct HTTP2FloodGuard: Sendable {
    /// The increment in bytes below which a WINDOW_UPDATE frame counts as useless. Larger increments are not counted,
    /// because programs that read in small pieces, such as servers in Go, send several of them for each DATA frame. The
    /// maximum window limits their number.
    static let usefulCredit = 1024

    struct Budget: Sendable {
        /// The maximum number of units in the budget. Each frame or stream that the guard limits takes one unit.
        let burst: Int
        let perSecond: Int
        private var left: Int
        private var refilled: Duration = .zero

        init(burst: Int, perSecond: Int) {
            self.burst = burst
            self.perSecond = perSecond
            left = burst
        }

        /// Takes one unit from the budget. Returns `false` if the budget is empty.
        mutating func take(at now: Duration) -> Bool {
            if left < burst { refill(at: now) }
            guard left > 0 else { return false }
            left -= 1
            return true
        }

        /// Returns units to the budget. Called for frames that the peer sends only because of frames from this side.
        mutating func restore(_ count: Int) { left = min(burst, left + count) }

        private mutating func refill(at now: Duration) {
            let elapsed = now - refilled
            guard elapsed >= .seconds(1) else { return }
            let seconds = elapsed.components.seconds
            left = min(burst, left + Int(min(seconds, Int64(burst))) * perSecond)
            // Count only whole seconds here. The remaining fraction of a second is counted at the next refill.
            refilled += .seconds(seconds)
        }
    }

    /// The budget for reset streams: streams that the peer resets, and streams that this side resets or refuses because
    /// of an invalid or excessive frame.
    private var resets: Budget
    /// The budget for frames that make no progress in a message, such as empty frames.
    private var chores: Budget

    init(burst: Int, perSecond: Int) {
        resets = Budget(burst: burst, perSecond: perSecond)
        chores = Budget(burst: burst, perSecond: perSecond)
    }

    /// Takes one unit from the budget for frames that do not advance a message.
    ///
    /// - Throws: A connection error if the budget is empty.
    mutating func chargeChore(_ what: String, at now: Duration) throws(HTTP2Violation) {
        guard chores.take(at: now) else { throw HTTP2Violation(.enhanceYourCalm, "too many \(what)") }
    }

    /// Takes one unit from the budget for reset streams.
    ///
    /// This budget covers streams that the peer resets. It also covers streams that this side resets or refuses because
    /// of an invalid or excessive frame.
    ///
    /// - Throws: A connection error if the budget is empty.
    mutating func chargeReset(at now: Duration) throws(HTTP2Violation) {
        guard resets.take(at: now) else { throw HTTP2Violation(.enhanceYourCalm, "too many streams reset") }
    }

    /// Records a DATA frame that this side sends. The peer usually sends two WINDOW_UPDATE frames in reply, for the
    /// stream and for the connection. So this method adds two units to the budget in advance.
    mutating func sentContent() { chores.restore(2) }
}
