/// Counts recent invitations per source. The table is bounded: old and rare sources are dropped.
struct InvitationFrequency: Sendable {
    private static let sourceLimit = 256
    /// All counts are halved after this number of invitations, or when there are too many sources.
    private static let period = 256

    private var counts: [[UInt8]: Int] = [:]
    private var countdown = period

    subscript(source: [UInt8]) -> Int { counts[source] ?? 0 }

    mutating func count(_ source: [UInt8]) {
        countdown -= 1
        if countdown == 0 || counts.count >= Self.sourceLimit {
            countdown = Self.period
            counts = counts.compactMapValues { $0 > 1 ? $0 / 2 : nil }
            if counts.count >= Self.sourceLimit { counts = [:] }
        }
        counts[source, default: 0] += 1
    }
}
