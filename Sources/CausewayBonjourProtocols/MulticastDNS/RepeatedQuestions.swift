internal import CausewayWire

/// Detects hosts that repeat a question because the answers to it are lost.
///
/// A querier without an answer asks again after 1, 2, 4, ... seconds (RFC 6762 §5.2). Only repetitions at these
/// intervals indicate loss. If a host asks at other intervals, it has another reason to ask, and the answers are not
/// repeated. The type reads no clock and stores at most ``limit`` queriers.
struct RepeatedQuestions: Sendable {
    static let limit = 1_024
    /// How long a querier is stored. This is less than 96 seconds (80 % of TTL 120), after which a host asks again
    /// although no answer was lost.
    private static let memory: Duration = .seconds(90)
    /// Maximum time between copies of one question. A question arrives over both address families, and links may duplicate it.
    private static let copies: Duration = .milliseconds(500)

    /// A host that has asked a question. Its IPv4 address, IPv6 address or both are known.
    private struct Asker: Sendable {
        var ipv4: InternetAddress?
        var ipv6: InternetAddress?
        var last: Duration
        var series: Series

        subscript(isIPv4: Bool) -> InternetAddress? {
            get { isIPv4 ? ipv4 : ipv6 }
            set { if isIPv4 { ipv4 = newValue } else { ipv6 = newValue } }
        }
    }

    /// A host's position in a series of repeated questions, computed from the intervals between the questions. In a
    /// series, each interval is twice the previous one.
    private struct Series: Sendable {
        /// Tolerance for late timers and packet delay, in addition to 1 % of the interval.
        private static let tolerance: Duration = .milliseconds(150)

        /// Expected seconds until the next question; `nil` if the latest question belongs to no series.
        private(set) var interval: Int64?
        /// Whether two consecutive intervals fit the series. One interval alone may be chance.
        private(set) var isConfirmed = false

        /// - Parameter isFirst: Whether the question begins a series. Only the first question permits unicast (RFC 6762 §5.4).
        init(isFirst: Bool) { interval = isFirst ? 1 : nil }

        /// Processes a question that arrived `gap` after the previous question.
        mutating func advance(by gap: Duration) {
            let seconds = Int64((gap / .seconds(1)).rounded())
            let error = gap - .seconds(seconds)
            let isWhole = max(error, .zero - error) <= Self.tolerance + gap / 100
            // The intervals double: 1, 2, 4 seconds and so on. If questions in between were lost, the gap is a sum of
            // consecutive intervals, for example 2 + 4 = 6 seconds (binary 110). The lowest 1 bit (2) is the interval
            // that was expected. The gap plus this bit (8) is the next interval.
            let lowest = seconds & -seconds
            let next = seconds + lowest
            guard isWhole, seconds > 0, next & (next - 1) == 0 else { return self = Series(isFirst: false) }
            isConfirmed = interval == lowest
            interval = next
        }

        /// The number of times to repeat the answer. The repeats follow after 1, 3 and 7 seconds, but only before the
        /// querier's next question is due.
        var repeatCount: Int {
            guard isConfirmed, let interval else { return 0 }
            return interval.trailingZeroBitCount
        }
    }

    private var askers: [DNSQuestion: [Asker]] = [:]
    private(set) var count = 0
    private var lastTidy: Duration = .zero

    /// Stores a question that is about to be answered. Returns the number of times to repeat the answer; greater than 0
    /// if the querier's repeated questions show that earlier answers were lost.
    mutating func note(_ question: DNSQuestion, from address: InternetAddress, at now: Duration) -> Int {
        var key = question
        // Questions that differ only in the QU bit count as equal.
        key.acceptsUnicast = false
        let isIPv4 = if case .ipv4 = address { true } else { false }
        guard let index = index(of: address, isIPv4, in: askers[key] ?? []), var asker = askers[key]?[index] else {
            add(key, address, isIPv4, Asker(last: now, series: Series(isFirst: question.acceptsUnicast)), at: now)
            return 0
        }
        asker[isIPv4] = address
        let gap = now - asker.last
        if question.acceptsUnicast || gap > Self.memory {
            asker.series = Series(isFirst: question.acceptsUnicast)
            asker.last = now
        } else if gap > Self.copies {
            asker.series.advance(by: gap)
            asker.last = now
        }
        askers[key]?[index] = asker
        return asker.series.repeatCount
    }

    /// Finds a host by its address. If the address is unknown, and exactly one host has only an address of the other
    /// family, returns that host: both addresses probably belong to it.
    private func index(of address: InternetAddress, _ isIPv4: Bool, in known: [Asker]) -> Int? {
        if let same = known.firstIndex(where: { $0[isIPv4] == address }) { return same }
        let others = known.indices.filter { known[$0][isIPv4] == nil }
        return others.count == 1 ? others[0] : nil
    }

    private mutating func add(
        _ key: DNSQuestion, _ address: InternetAddress, _ isIPv4: Bool, _ asker: Asker, at now: Duration
    ) {
        if count >= Self.limit, now - lastTidy > .seconds(1) {
            lastTidy = now
            askers = askers.compactMapValues { known in
                let recent = known.filter { now - $0.last <= Self.memory }
                return recent.isEmpty ? nil : recent
            }
            count = askers.values.reduce(0) { $0 + $1.count }
        }
        guard count < Self.limit else { return }
        var asker = asker
        asker[isIPv4] = address
        askers[key, default: []].append(asker)
        count += 1
    }
}
