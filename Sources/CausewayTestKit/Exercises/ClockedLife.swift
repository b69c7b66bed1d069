/// A machine under a clock that nothing but an exercise's choices moves.
protocol ClockedLife {
    var now: Duration { get set }
    var nextDeadline: Duration? { get }

    /// Lets the machine see what time it is, and does what it asks for.
    mutating func advance()
}

extension ClockedLife {
    /// Time goes from deadline to deadline. None lies in the past once it was seen to.
    mutating func pass(_ time: Duration) {
        let end = now + time
        var turns = 0
        while let deadline = nextDeadline, deadline <= end, turns < 1_000 {
            now = max(now, deadline)
            advance()
            precondition((nextDeadline ?? .seconds(1 << 40)) > now, "a deadline that has passed")
            turns += 1
        }
        now = end
        advance()
    }
}
