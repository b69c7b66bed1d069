internal import CausewayWire

/// Detects hosts that repeat a question because the answers to it are lost.
///
/// A querier without an answer asks again after 1, 2, 4, ... seconds (RFC 6762 §5.2). Only repetitions at these
/// intervals indicate loss. If a host asks at other intervals, it has another reason to ask, and the answers are not
/// repeated. The type reads no clock and stores at most ``limit`` queriers.
struct RepeatedQuestions: Sendable {
    static let limit = 1_024
    /// How long a querier is stored. This is less than 96 seconds, which is 80 % of the usual TTL of 120 seconds. After
    /// 96 seconds, a host asks again even if no answer was lost.
    private static let memory: Duration = .seconds(90)
    /// Maximum time between copies of one question. A question arrives over both address families, and links may duplicate it.
    private static let copies: Duration = .milliseconds(500)

    /// A host that has asked a question. At least one of its two addresses is known: IPv4 or IPv6.
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

        /// The expected seconds until the next question in the series; `nil` if the latest question belongs to no
        /// series.
        private(set) var interval: Int64?
        /// Whether two intervals in a row match the series of a querier without answers. One matching interval can be a
        /// coincidence.
        private(set) var isConfirmed = false

        /// - Parameter isFirst: Whether the question begins a series. Only the first question permits unicast (RFC 6762 §5.4).
        init(isFirst: Bool) { interval = isFirst ? 1 : nil }

        /// Processes a question. `gap` is the time since the previous question.
        mutating func advance(by gap: Duration) {
            let seconds = Int64((gap / .seconds(1)).rounded())
            let error = gap - .seconds(seconds)
            let isWhole = max(error, .zero - error) <= Self.tolerance + gap / 100
            // The intervals between a querier's questions double: 1, 2, 4 seconds and so on. If questions were lost,
            // the gap between two received questions is a sum of consecutive intervals. Example: 2 + 4 = 6 seconds
            // (binary 110). The lowest 1 bit of the gap (2) is the interval that was expected. The gap plus this bit
            // (8) is the next interval.
            let lowest = seconds & -seconds
            let next = seconds + lowest
            guard isWhole, seconds > 0, next & (next - 1) == 0 else { return self = Series(isFirst: false) }
            isConfirmed = interval == lowest
            interval = next
        }

        /// How many times the answer is repeated. Repeats are sent after 1, 3 and 7 seconds. No repeat is sent once the
        /// querier's next question is due.
        var repeatCount: Int {
            guard isConfirmed, let interval else { return 0 }
            return interval.trailingZeroBitCount
        }
    }

    private var askers: [DNSQuestion: [Asker]] = [:]
    private(set) var count = 0
    private var lastTidy: Duration = .zero

    /// Stores a question that is about to be answered. Returns how often to repeat the answer. The number is greater
    /// than 0 if the querier's repeated questions show that earlier answers were lost.
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

    /// Finds a host by its address.
    ///
    /// If the address is unknown, the host may be known only by an address in the other family. If there is exactly one
    /// such host, returns it, because both addresses probably belong to it.
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
