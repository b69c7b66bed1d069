internal import CausewayWire

extension MulticastQuerier {
    /// The state of a continuous question.
    struct Running: Sendable {
        var listeners: Set<QuestionID>
        var interval: Duration = MulticastQuerier.shortestInterval
        var sent = 0
        var lastSent: Duration?
        /// When the question was last asked in this series, by this host or by another host in its place.
        var lastCounted: Duration?
        /// When a unicast response was last requested.
        var lastUnicast: Duration?
        /// Whether the answer is known and no other answers are expected. The next query is sent when the known answer is about to expire.
        var isSettled = false
    }
}
