internal import CausewayWire

/// Questions of others whose known answers come in several messages (RFC 6762 §7.2), until the last of them has come.
///
/// Only what may still stand for one of ours is kept: questions of which nothing was said that is not known here.
struct MultipacketQueries: Sendable {
    private struct Pending: Sendable {
        var questions: [DNSQuestion]
        var until: Duration
    }

    /// Askers that are waited for at one time: the questions of others are asked here as well.
    private static let limit = 256
    /// Messages follow each other at once.
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

    /// Takes what follows. Returns the questions that may stand for ours if that was the last message, and `nil` if more comes.
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
    /// A question of somebody else's stands for one of ours that would follow this soon (RFC 6762 §7.3).
    private static let duplicateWindow: Duration = .seconds(1)
    /// Whoever is spared asks so much later than whoever asked. All whom one question spares would ask again at one moment else, and
    /// none could spare another: so he who asked asks first the next time as well, and stands for all.
    private static let deference: Range<Duration> = .milliseconds(20)..<Duration.milliseconds(520)

    /// Somebody else asks all for all to hear. Their question may stand for ours, and silence upon it tells as well.
    mutating func overheard(_ message: DNSMessage, _ arrival: MulticastArrival, at now: Duration) {
        // A simple resolver's answer goes to itself.
        guard arrival.isFull, arrival.isMulticast, arrival.isOnLink, message.authorities.isEmpty else { return }
        if message.questions.isEmpty {
            let cache = cache
            let whole = long.follow(message, of: arrival.peer, at: now) { cache.holds($0, at: now) }
            for question in whole ?? [] { spare(question, at: now) }
            return
        }
        let questions = message.questions.filter { !$0.acceptsUnicast && $0.recordClass == .internet }
        if message.flags.contains(.isTruncated) {
            // More known answers follow: what is missed is not said yet. One of those that get lost may be one that is missed here, so
            // that silence upon such questions tells nothing.
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

    /// Counts another's question as ours, if ours would follow soon.
    private mutating func spare(_ question: DNSQuestion, at now: Duration) {
        guard isDueSoon(question, at: now) else { return }
        advance(question, at: now, later: .random(in: Self.deference, using: &random))
    }

    /// Counts a question as put, and says when it is put next: each wait is twice the last at least (RFC 6762 §5.2).
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
