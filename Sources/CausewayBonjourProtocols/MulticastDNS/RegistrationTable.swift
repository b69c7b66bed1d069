internal import CausewayWire

/// The registrations on one link. They can be found by identifier, by unique name, and by the time of the next probe or
/// announcement.
struct RegistrationTable: Sendable {
    /// The registrations that own one name. Usually there is only one, and no array is needed.
    private struct Owners: Sendable {
        var first: RegistrationID
        var others: [RegistrationID] = []
    }

    private var registrations: [RegistrationID: MulticastRegistration] = [:]
    private var times = DeadlineIndex<RegistrationID>()
    /// For each unique name, its registrations in any phase.
    private var owners: [DNSName: Owners] = [:]

    var count: Int { registrations.count }

    /// The identifiers of the registrations. They are sorted, so that a test with the same random seed always produces
    /// the same delays and messages.
    var ids: [RegistrationID] { registrations.keys.sorted { $0.rawValue < $1.rawValue } }

    /// The earliest time at which a registration must send a probe or an announcement.
    var earliestDue: Duration? { times.next }

    subscript(id: RegistrationID) -> MulticastRegistration? {
        get { registrations[id] }
        set {
            if let old = registrations[id] { unindex(old, id) }
            registrations[id] = newValue
            times[id] = newValue?.deadline
            if let newValue { index(newValue, id) }
        }
    }

    /// Returns the registrations with this unique name, in any phase.
    func owners(of name: DNSName) -> [RegistrationID] { owners[name].map { [$0.first] + $0.others } ?? [] }

    func holds(_ name: DNSName) -> Bool { owners[name] != nil }

    /// Returns a registration whose probe or announcement is due. Removes its due time from the table.
    ///
    /// The registration gets a new due time with its next change.
    mutating func popDue(at now: Duration) -> RegistrationID? { times.popDue(at: now) }

    /// Changes the state of a registration. `body` must not change the registration's records.
    mutating func change(_ id: RegistrationID, _ body: (inout MulticastRegistration) -> Void) {
        guard var registration = registrations[id] else { return }
        body(&registration)
        registrations[id] = registration
        times[id] = registration.deadline
    }

    private mutating func index(_ registration: MulticastRegistration, _ id: RegistrationID) {
        for name in registration.uniqueNames {
            if owners[name] == nil { owners[name] = Owners(first: id) } else { owners[name]?.others.append(id) }
        }
    }

    private mutating func unindex(_ registration: MulticastRegistration, _ id: RegistrationID) {
        for name in registration.uniqueNames {
            let left = owners(of: name).filter { $0 != id }
            owners[name] = left.first.map { Owners(first: $0, others: Array(left.dropFirst())) }
        }
    }
}
