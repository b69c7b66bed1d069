extension Duration {
    /// Returns a uniformly distributed random duration in `range`, in whole microseconds from its lower bound.
    static func random(
        in range: Range<Duration>, using random: inout any RandomNumberGenerator & Sendable
    ) -> Duration {
        let span = (range.upperBound - range.lowerBound) / Duration.microseconds(1)
        return range.lowerBound + .microseconds(Int64.random(in: 0..<max(Int64(span), 1), using: &random))
    }
}
