internal import CausewayWire

/// Recognizes the second copy of a conflicting record: a host with two address families sends each response over both families, and both
/// copies report the same conflict (RFC 6762 §9).
struct ConflictCopies: Sendable {
    /// The maximum time between the two copies. It is shorter than the minimum time between two defences of a name, 250 ms (RFC 6762 §6).
    private static let window: Duration = .milliseconds(200)
    /// The maximum number of records to remember; the oldest is dropped.
    private static let limit = 64

    private struct Sighting: Sendable {
        var record: DNSRecord
        var family: Family
        var time: Duration
    }

    private enum Family: Sendable { case ipv4, ipv6 }

    private var sightings: [Sighting] = []

    /// Returns whether the other address family delivered this multicast record within the window. If not, stores the record.
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
