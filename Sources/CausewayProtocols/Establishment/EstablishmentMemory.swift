package import CausewayWire

/// Results of earlier connections: which addresses worked, which failed, and their round-trip times (RFC 8305 §4, §5).
///
/// The number of entries and their lifetime are limited: the host may move to another network, where the results do not apply.
package struct EstablishmentMemory: Sendable {
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
    /// Failures expire sooner than other results. The cost is low: if the address still fails, only one attempt is lost.
    package static let failureLifetime: Duration = .seconds(60)

    private let limit: Int
    private var hosts: [String: Host] = [:]
    private var places: [InternetAddress: Place] = [:]

    package init(limit: Int = 512) { self.limit = max(1, limit) }

    package var isEmpty: Bool { hosts.isEmpty && places.isEmpty }

    package mutating func connected(
        to address: InternetAddress, of host: String, roundTrip: Duration?, at now: Duration
    ) {
        makeRoom(at: now)
        hosts[host] = Host(winner: address, time: now)
        let known = places[address]?.roundTrip
        // Weight the old round-trip time with 7/8 and the new one with 1/8 (RFC 6298 §2).
        let smoothed = roundTrip.map { new in known.map { $0 * 7 / 8 + new / 8 } ?? new } ?? known
        places[address] = Place(roundTrip: smoothed, failedAt: nil, time: now)
    }

    package mutating func failed(_ address: InternetAddress, at now: Duration) {
        makeRoom(at: now)
        places[address, default: Place(time: now)].failedAt = now
        places[address]?.time = now
    }

    package func experience(with address: InternetAddress, of host: String, at now: Duration) -> AddressRace.History {
        var experience = AddressRace.History()
        if let known = hosts[host], known.winner == address, now - known.time < Self.lifetime {
            experience.hasWorked = true
        }
        if let place = places[address], now - place.time < Self.lifetime {
            experience.hasFailed = place.failedAt.map { now - $0 < Self.failureLifetime } ?? false
            experience.roundTrip = place.roundTrip
        }
        if experience.hasFailed { experience.hasWorked = false }
        return experience
    }

    package mutating func removeAll() { (hosts, places) = ([:], [:]) }

    /// Removes expired entries if a table is full, and also the oldest ones if that is not enough.
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

    /// Returns the newest time among the oldest eighth of all entries. The caller evicts these entries together.
    private static func bound(_ times: [Duration]) -> Duration { times.sorted()[times.count / 8] }
}
