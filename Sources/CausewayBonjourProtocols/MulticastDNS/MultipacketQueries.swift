internal import CausewayWire

/// Queries from other hosts whose known answers arrive in several messages (RFC 6762 §7.2).
///
/// A query is stored at most until its last message arrives. A question in the query may make this host's own equal
/// question unnecessary. The question is stored only while this is possible: all its known answers so far must be in
/// this host's cache.
struct MultipacketQueries: Sendable {
    private struct Pending: Sendable {
        var questions: [DNSQuestion]
        var until: Duration
    }

    /// Maximum number of peers whose queries are stored. A query from a further peer does not suppress this host's own
    /// question.
    private static let limit = 256
    /// How long to wait for the last message of another host's query. The messages of one query usually follow each
    /// other at once.
    private static let patience: Duration = .seconds(1)

    private var asked: [MulticastPeer: Pending] = [:]

    func awaitsMore(of peer: MulticastPeer) -> Bool { asked[peer] != nil }

    mutating func begin(_ questions: [DNSQuestion], of peer: MulticastPeer, at now: Duration) {
        asked[peer] = nil
        guard !questions.isEmpty else { return }
        if asked.count >= Self.limit { asked = asked.filter { $0.value.until > now } }
        guard asked.count < Self.limit else { return }
        asked[peer] = Pending(questions: questions, until: now + Self.patience)
    }

    /// Processes the next message of a stored query. The query's last message has no TC bit. After that message,
    /// returns those of the query's questions that this host need not send itself. Otherwise returns `nil`.
    mutating func follow(
        _ message: DNSMessage, of peer: MulticastPeer, at now: Duration, isKnown: (DNSRecord) -> Bool
    ) -> [DNSQuestion]? {
        guard var entry = asked.removeValue(forKey: peer), entry.until > now else { return nil }
        for record in message.answers where !isKnown(record) { entry.questions.removeAll { $0.matches(record) } }
        guard message.flags.contains(.isTruncated) else { return entry.questions }
        if !entry.questions.isEmpty { asked[peer] = entry }
        return nil
    }
}
