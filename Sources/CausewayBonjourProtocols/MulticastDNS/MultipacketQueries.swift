internal import CausewayWire

/// Other hosts' queries with known answers in several messages (RFC 6762 §7.2). A query is stored at most until its
/// last message arrives.
///
/// A question is stored only while it can suppress this host's own question. For this, the cache must contain all known
/// answers to the question that have arrived so far.
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

    /// Processes a further message of a stored query. If it is the query's last message (without TC bit), returns the
    /// query's questions that this host then need not send. Otherwise returns `nil`.
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
