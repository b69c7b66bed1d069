internal import CausewayWire

/// The questions that this host answered, each with the querier's address and the time. The type reads no clock and
/// stores at most ``limit`` questions.
struct AnsweredQueriers: Sendable {
    static let limit = 4_096
    /// When the table is full, questions older than this are removed.
    private static let memory: Duration = .seconds(600)

    private struct Key: Hashable, Sendable {
        var address: InternetAddress
        var name: DNSName
        var type: DNSRecordType
    }

    private var times: [Key: Duration] = [:]
    private var lastTidy: Duration = .zero

    /// Records a question that was answered. Returns `true` if the querier has not asked it before since `start`.
    /// Returns `false` if the table has no room for the question.
    mutating func note(
        _ question: DNSQuestion, from address: InternetAddress, since start: Duration, at now: Duration
    ) -> Bool {
        let key = Key(address: address, name: question.name, type: question.type)
        if let last = times[key] {
            times[key] = now
            return last < start
        }
        if times.count >= Self.limit, now - lastTidy > .seconds(1) {
            lastTidy = now
            times = times.filter { now - $0.value <= Self.memory }
        }
        guard times.count < Self.limit else { return false }
        times[key] = now
        return true
    }
}
