/// Counts recent invitations by source. The table has a maximum size, so sources with old or few invitations are
/// dropped.
struct InvitationFrequency: Sendable {
    private static let sourceLimit = 256
    /// After this number of invitations, all counts are halved. They are also halved when the table has too many
    /// sources.
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
