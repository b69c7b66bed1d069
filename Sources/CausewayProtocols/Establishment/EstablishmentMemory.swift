package import CausewayWire

/// Results of earlier connections: which addresses worked, which failed, and their round-trip times (RFC 8305 §4, §5).
///
/// The number of entries and their lifetime are limited: the host may move to another network, where the results do not
/// apply. Each privacy context has its own partition: otherwise, the order of one context's attempts would reveal
/// earlier connections of another context.
package struct EstablishmentMemory: Sendable {
    private struct Key<Subject: Hashable & Sendable>: Hashable, Sendable {
        let partition: UInt64
        let subject: Subject

        init(_ subject: Subject, _ partition: UInt64) { (self.partition, self.subject) = (partition, subject) }
    }

    private struct Host: Sendable {
        var winner: InternetAddress
        var time: Duration
    }

    private struct Place: Sendable {
        var roundTrip: Duration?
        var failedAt: Duration?
        var time: Duration
    }

    package static let lifetime: Duration = .seconds(600)
    /// How long a failure is remembered. This is shorter than for other results. If the address still fails after this
    /// time, only one connection attempt is lost.
    package static let failureLifetime: Duration = .seconds(60)

    private let limit: Int
    private var hosts: [Key<String>: Host] = [:]
    private var places: [Key<InternetAddress>: Place] = [:]

    package init(limit: Int = 512) { self.limit = max(1, limit) }

    package mutating func connected(
        to address: InternetAddress, of host: String, in partition: UInt64 = 0, roundTrip: Duration?, at now: Duration
    ) {
        makeRoom(at: now)
        hosts[Key(host, partition)] = Host(winner: address, time: now)
        let place = Key(address, partition)
        let known = places[place]?.roundTrip
        // The smoothed round-trip time consists of 7/8 of the old value and 1/8 of the new value (RFC 6298 §2).
        let smoothed = roundTrip.map { new in known.map { $0 * 7 / 8 + new / 8 } ?? new } ?? known
        places[place] = Place(roundTrip: smoothed, failedAt: nil, time: now)
    }

    package mutating func failed(_ address: InternetAddress, in partition: UInt64 = 0, at now: Duration) {
        makeRoom(at: now)
        let place = Key(address, partition)
        places[place, default: Place(time: now)].failedAt = now
        places[place]?.time = now
    }

    package func experience(
        with address: InternetAddress, of host: String, in partition: UInt64 = 0, at now: Duration
    ) -> AddressRace.History {
        var experience = AddressRace.History()
        if let known = hosts[Key(host, partition)], known.winner == address, now - known.time < Self.lifetime {
            experience.hasWorked = true
        }
        if let place = places[Key(address, partition)], now - place.time < Self.lifetime {
            experience.hasFailed = place.failedAt.map { now - $0 < Self.failureLifetime } ?? false
            experience.roundTrip = place.roundTrip
        }
        if experience.hasFailed { experience.hasWorked = false }
        return experience
    }

    package mutating func remove(partition: UInt64) {
        hosts = hosts.filter { $0.key.partition != partition }
        places = places.filter { $0.key.partition != partition }
    }

    /// If a table is full, removes the expired entries. If the table is still full, also removes the oldest entries.
    private mutating func makeRoom(at now: Duration) {
        if hosts.count >= limit { hosts = hosts.filter { now - $0.value.time < Self.lifetime } }
        if places.count >= limit { places = places.filter { now - $0.value.time < Self.lifetime } }
        if hosts.count >= limit {
            let bound = Self.bound(hosts.values.map(\.time))
            hosts = hosts.filter { $0.value.time > bound }
        }
        if places.count >= limit {
            let bound = Self.bound(places.values.map(\.time))
            places = places.filter { $0.value.time > bound }
        }
    }

    /// Returns the eviction time for a full table. Entries up to this time are evicted. These are about the oldest
    /// eighth of the entries.
    private static func bound(_ times: [Duration]) -> Duration { times.sorted()[times.count / 8] }
}
