internal import CausewayWire

/// Other hosts' queries with known answers in several messages (RFC 6762 §7.2). A query is stored at most until its last message arrives.
///
/// Only questions that can still suppress this host's own question are stored: all their known answers so far are in the cache.
struct MultipacketQueries: Sendable {
    private struct Pending: Sendable {
        var questions: [DNSQuestion]
        var until: Duration
    }

    /// Maximum number of peers with pending queries. For further peers, this host sends its own question.
    private static let limit = 256
    /// How long to wait for the last message. The messages usually follow each other at once.
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

    /// Processes a further message of a stored query. After the last message (without TC bit), returns the questions
    /// that can suppress this host's own. Otherwise returns `nil`.
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

extension MulticastQuerier {
    /// Another host's question suppresses this host's question if the latter is due within this time (RFC 6762 §7.3).
    private static let duplicateWindow: Duration = .seconds(1)
    /// Additional delay for a question suppressed by another host's question. Without it, all hosts would ask again at
    /// the same time. With it, the last querier is the first to ask again, and its question suppresses the others.
    private static let deference: Range<Duration> = .milliseconds(20)..<Duration.milliseconds(520)

    /// Processes another host's multicast query: its questions may suppress this host's own (RFC 6762 §7.3), and a
    /// cached record that is neither a known answer nor answered may no longer exist (RFC 6762 §10.5).
    mutating func overheard(_ message: DNSMessage, _ arrival: MulticastArrival, at now: Duration) {
        // Responses to legacy resolvers are unicast, and a probe asks for conflicts only: neither helps this host.
        guard arrival.isFull, arrival.isMulticast, arrival.isOnLink, message.authorities.isEmpty else { return }
        if message.questions.isEmpty {
            let cache = cache
            let whole = long.follow(message, of: arrival.peer, at: now) { cache.holds($0, at: now) }
            for question in whole ?? [] { spare(question, at: now) }
            return
        }
        let questions = message.questions.filter { !$0.acceptsUnicast && $0.recordClass == .internet }
        if message.flags.contains(.isTruncated) {
            // More known answers follow, so it is not clear yet which are missing. A message may be lost, so a missing
            // response to such a query proves nothing.
            let ours = questions.filter { question in
                isDueSoon(question, at: now)
                    && message.answers.allSatisfy { !question.matches($0) || cache.holds($0, at: now) }
            }
            return long.begin(ours, of: arrival.peer, at: now)
        }
        for question in questions {
            let known = Set(message.answers.lazy.filter { question.matches($0) }.map(\.data))
            let isKnown = message.answers.allSatisfy { !question.matches($0) || cache.holds($0, at: now) }
            if isKnown { spare(question, at: now) }
            cache.update(question) { entry in
                if !known.contains(entry.record.data) { entry.missed(at: now) }
            }
        }
    }

    private func isDueSoon(_ question: DNSQuestion, at now: Duration) -> Bool {
        schedule[question].map { $0 <= now + Self.duplicateWindow } ?? false
    }

    /// Skips this host's own question if it is due soon. The other host's question counts instead.
    private mutating func spare(_ question: DNSQuestion, at now: Duration) {
        guard isDueSoon(question, at: now) else { return }
        advance(question, at: now, later: .random(in: Self.deference, using: &random))
    }

    /// Counts a question as sent and schedules the next one. The interval doubles up to one hour (RFC 6762 §5.2).
    mutating func advance(_ question: DNSQuestion, at now: Duration, later delay: Duration = .zero) {
        guard let entry = running[question] else { return }
        let last = entry.lastCounted.map { now - $0 } ?? .zero
        let wait = min(max(entry.interval, last * 2), Self.longestInterval)
        running[question]?.sent += 1
        running[question]?.lastCounted = now
        running[question]?.interval = min(wait * 2, Self.longestInterval)
        schedule[question] = now + wait + delay
    }
}
