internal import CausewayWire

/// Answers that wait for their time, and when each was last given.
struct PendingAnswers: Sendable {
    /// No record is multicast more often (RFC 6762 §6).
    private static let spacing: Duration = .seconds(1)
    /// Save in defence against somebody who probes for its name.
    private static let defenceSpacing: Duration = .milliseconds(250)
    /// Peers to whom answers are due at one time. Beyond, they get theirs by multicast or ask again.
    private static let peerLimit = 256

    private struct Waiting: Sendable {
        var due: Duration
        /// Who asked; more than one, or nobody in particular, when an answer of one's known ones does not settle it.
        var askers: Set<MulticastPeer>
    }

    private var waiting: [DNSRecord: Waiting] = [:]
    private var direct: [MulticastPeer: (due: Duration, records: [DNSRecord])] = [:]
    private var sent: [DNSRecord: Duration] = [:]

    mutating func add(_ records: [DNSRecord], at due: Duration) {
        for record in records { waiting[record] = Waiting(due: due, askers: []) }
    }

    mutating func add(
        _ records: [DNSRecord], for peer: MulticastPeer, at due: Duration, isDefence: Bool
    ) {
        let spacing = isDefence ? Self.defenceSpacing : Self.spacing
        for record in records {
            let earliest = sent[record].map { max(due, $0 + spacing) } ?? due
            var entry = waiting[record] ?? Waiting(due: earliest, askers: [])
            entry.askers.insert(peer)
            entry.due = min(entry.due, earliest)
            waiting[record] = entry
        }
    }

    mutating func add(_ records: [DNSRecord], to peer: MulticastPeer, at due: Duration) {
        guard !records.isEmpty, direct.count < Self.peerLimit || direct[peer] != nil else { return }
        let old = direct[peer]
        let new = records.filter { !(old?.records.contains($0) ?? false) }
        direct[peer] = (min(old?.due ?? due, due), (old?.records ?? []) + new)
    }

    /// Whether a record was not multicast for a quarter of its time: then others need it as well (RFC 6762 §5.4).
    func isStale(_ record: DNSRecord, at now: Duration) -> Bool {
        guard let last = sent[record] else { return true }
        return now - last > .seconds(Int64(record.timeToLive)) / 4
    }

    /// More known answers of somebody whose question said that they would come (RFC 6762 §7.2).
    mutating func suppress(
        _ known: [DNSRecord], of peer: MulticastPeer, hasMore: Bool, at now: Duration,
        _ random: inout any RandomNumberGenerator & Sendable
    ) {
        for (record, entry) in waiting where entry.askers.contains(peer) {
            if MulticastResponder.isKnown(record, known) {
                waiting[record]?.askers.remove(peer)
                if entry.askers.count == 1 { waiting[record] = nil }
            } else if hasMore {
                let delay = Duration.random(in: .milliseconds(400)..<Duration.milliseconds(500), using: &random)
                waiting[record]?.due = max(entry.due, now + delay)
            }
        }
        if let records = direct[peer]?.records {
            let rest = records.filter { !MulticastResponder.isKnown($0, known) }
            if rest.isEmpty { direct[peer] = nil } else { direct[peer]?.records = rest }
        }
    }

    mutating func forget(_ record: DNSRecord) { waiting[record] = nil }

    mutating func wasSent(_ record: DNSRecord, at now: Duration) {
        sent[record] = now
        waiting[record] = nil
    }

    var deadline: Duration? { (waiting.values.map(\.due) + direct.values.map(\.due)).min() }

    /// What is due, with all that waits beside it: one message instead of several (RFC 6762 §6.4).
    mutating func take(at now: Duration) -> [DNSRecord] {
        guard waiting.values.contains(where: { $0.due <= now }) else { return [] }
        let limit = now + .milliseconds(120)
        let records = waiting.filter { $0.value.due <= limit }.map(\.key)
        for record in records { wasSent(record, at: now) }
        return records
    }

    mutating func takeDirect(at now: Duration) -> [(MulticastPeer, [DNSRecord])] {
        let due = direct.filter { $0.value.due <= now }
        for peer in due.keys { direct[peer] = nil }
        return due.map { ($0.key, $0.value.records) }
    }
}
