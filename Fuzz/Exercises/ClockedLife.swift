/// A state machine with a virtual clock, for fuzzing. Only the fuzzer's choices advance the clock.
protocol ClockedLife {
    var now: Duration { get set }
    var nextDeadline: Duration? { get }

    /// Passes the current time to the machine and performs its actions.
    mutating func advance()
}

extension ClockedLife {
    /// Advances the clock from deadline to deadline. After each step, the next deadline must be in the future.
    mutating func pass(_ time: Duration) {
        let end = now + time
        var turns = 0
        while let deadline = nextDeadline, deadline <= end, turns < 1_000 {
            now = max(now, deadline)
            advance()
            precondition((nextDeadline ?? .seconds(1 << 40)) > now, "the deadline is in the past")
            turns += 1
        }
        now = end
        advance()
    }
}
