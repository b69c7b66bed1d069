internal import CausewayWire

/// Questions that come again from a host although they were answered: what was said did not reach it.
///
/// Questions come ever more seldom by law, so on a link that loses much few of them get through: each that does is worth more than one
/// answer. It reads no clock, and remembers ``limit`` askers at most.
struct RepeatedQuestions: Sendable {
    static let limit = 1_024
    /// How long an asker is remembered: less than the 96 seconds after which a record of 120 seconds is asked for again in any case.
    private static let memory: Duration = .seconds(90)
    /// Copies of one question are this near to each other: it comes over both families, and wires may double it.
    private static let copies: Duration = .milliseconds(500)

    /// One host, by its address in each family, as far as can be told.
    private struct Asker: Sendable {
        var ipv4: InternetAddress?
        var ipv6: InternetAddress?
        var last: Duration
        /// Times before the last one.
        var rounds = 0

        subscript(isIPv4: Bool) -> InternetAddress? {
            get { isIPv4 ? ipv4 : ipv6 }
            set { if isIPv4 { ipv4 = newValue } else { ipv6 = newValue } }
        }
    }

    private var askers: [DNSQuestion: [Asker]] = [:]
    private(set) var count = 0
    private var lastTidy: Duration = .zero

    /// Notes a question that is about to be answered. Returns how often its asker has put it before.
    ///
    /// One that accepts unicast begins a series (RFC 6762 §5.4): another program on the same host asks, perhaps, and nothing was missed.
    mutating func note(_ question: DNSQuestion, from address: InternetAddress, at now: Duration) -> Int {
        var key = question
        // It is the same question, however its answer may come.
        key.acceptsUnicast = false
        let isIPv4 = if case .ipv4 = address { true } else { false }
        guard let index = index(of: address, isIPv4, in: askers[key] ?? []), var asker = askers[key]?[index] else {
            add(key, address, isIPv4, at: now)
            return 0
        }
        asker[isIPv4] = address
        if now - asker.last > Self.memory { asker.rounds = -1 }
        if question.acceptsUnicast {
            (asker.rounds, asker.last) = (0, now)
        } else if now - asker.last > Self.copies {
            asker.rounds += 1
            asker.last = now
        }
        askers[key]?[index] = asker
        return asker.rounds
    }

    /// A host is known by its address. One that was heard over the other family alone is the same if no other can be.
    private func index(of address: InternetAddress, _ isIPv4: Bool, in known: [Asker]) -> Int? {
        if let same = known.firstIndex(where: { $0[isIPv4] == address }) { return same }
        let others = known.indices.filter { known[$0][isIPv4] == nil }
        return others.count == 1 ? others[0] : nil
    }

    private mutating func add(_ key: DNSQuestion, _ address: InternetAddress, _ isIPv4: Bool, at now: Duration) {
        if count >= Self.limit, now - lastTidy > .seconds(1) {
            lastTidy = now
            askers = askers.compactMapValues { known in
                let recent = known.filter { now - $0.last <= Self.memory }
                return recent.isEmpty ? nil : recent
            }
            count = askers.values.reduce(0) { $0 + $1.count }
        }
        guard count < Self.limit else { return }
        var asker = Asker(last: now)
        asker[isIPv4] = address
        askers[key, default: []].append(asker)
        count += 1
    }
}
