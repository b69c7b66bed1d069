internal import CausewayWire

/// How long to wait before saying what other hosts may say at the same moment.
///
/// Such waits are random, so that hosts which one event sets going do not speak together. Where no such event was lately, it is one program
/// that begins something: its wait is random within the same bounds, but rather short than long.
struct ResponseDelays: Sendable {
    /// Whoever is set going by an event begins within this time.
    private static let aftermath: Duration = .seconds(10)

    /// When something last happened that many hosts of the link may have noticed.
    var upheaval: Duration = .zero

    /// - Parameter count: Of so many random times the least is taken in calm. A moment is as likely then as so many times as when the times
    ///   are even, at most.
    func wait(
        in bounds: Range<Duration>, leastOf count: Int, at now: Duration,
        using random: inout any RandomNumberGenerator & Sendable
    ) -> Duration {
        let isCalm = now - upheaval >= Self.aftermath
        return (0..<(isCalm ? count : 1)).reduce(bounds.upperBound) { minimum, _ in
            min(minimum, .random(in: bounds, using: &random))
        }
    }
}

/// Names under which other hosts were heard to have records as well: they answer to the same questions.
struct SharedRecordNames: Sendable {
    /// Who had a service so long ago may have it still.
    private static let memory: Duration = .seconds(Int64(MulticastDNS.otherTimeToLive))
    /// Names that are remembered.
    private static let limit = 1_024

    private var heard: [DNSName: Duration] = [:]

    mutating func note(_ name: DNSName, at now: Duration) {
        if heard.count >= Self.limit, heard[name] == nil {
            heard = heard.filter { now - $0.value < Self.memory }
            guard heard.count < Self.limit else { return }
        }
        heard[name] = now
    }

    func have(_ name: DNSName, at now: Duration) -> Bool { heard[name].map { now - $0 < Self.memory } ?? false }
}
