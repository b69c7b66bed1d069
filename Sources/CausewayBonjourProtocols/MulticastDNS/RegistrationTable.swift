internal import CausewayWire

/// A link's registrations, by identifier, by unique name and by the time of the next probe or announcement.
struct RegistrationTable: Sendable {
    /// One name's registrations. Usually there is only one, which needs no array.
    private struct Owners: Sendable {
        var first: RegistrationID
        var others: [RegistrationID] = []
    }

    private var registrations: [RegistrationID: MulticastRegistration] = [:]
    private var times = DeadlineIndex<RegistrationID>()
    /// The registrations per unique name, in any phase.
    private var owners: [DNSName: Owners] = [:]

    var count: Int { registrations.count }

    /// The registrations' identifiers, sorted, so that equal random seeds give equal delays and messages.
    var ids: [RegistrationID] { registrations.keys.sorted { $0.rawValue < $1.rawValue } }

    /// When the next probe or announcement is due.
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

    /// Returns a registration whose probe or announcement is due, and removes its due time from the table. The next
    /// change of the registration sets a new due time.
    mutating func popDue(at now: Duration) -> RegistrationID? { times.popDue(at: now) }

    /// Changes a registration's state, but not its records.
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
