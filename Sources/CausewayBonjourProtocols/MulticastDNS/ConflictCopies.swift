internal import CausewayWire

/// Recognizes the second copy of a conflicting record. A host with IPv4 and IPv6 sends each response over both, and the
/// two copies are one conflict (RFC 6762 §9).
struct ConflictCopies: Sendable {
    /// Maximum time between the two copies of one response. It must be shorter than 250 ms: that is the minimum time
    /// between two responses that defend a name (RFC 6762 §6).
    private static let window: Duration = .milliseconds(200)
    /// Maximum number of remembered records. If there are more, the oldest record is dropped.
    private static let limit = 64

    private struct Sighting: Sendable {
        var record: DNSRecord
        var family: Family
        var time: Duration
    }

    private enum Family: Sendable { case ipv4, ipv6 }

    private var sightings: [Sighting] = []

    /// Returns whether a multicast record is a copy of an earlier one. A copy arrives over the other address family
    /// within ``window``. If the record is not a copy, stores it.
    mutating func isCopy(_ record: DNSRecord, _ arrival: MulticastArrival, at now: Duration) -> Bool {
        guard arrival.isMulticast else { return false }
        let family: Family = if case .ipv4 = arrival.peer.address { .ipv4 } else { .ipv6 }
        sightings.removeAll { now - $0.time > Self.window }
        let isKnown = sightings.contains { seen in
            seen.family != family && seen.record.name == record.name && seen.record.type == record.type
                && seen.record.data == record.data
        }
        guard !isKnown else { return true }
        if sightings.count == Self.limit { sightings.removeFirst() }
        sightings.append(Sighting(record: record, family: family, time: now))
        return false
    }
}
