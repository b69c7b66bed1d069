internal import CausewayProtocols
internal import CausewaySystem
internal import Foundation

/// Assigns connections to credentials, for schemes that authenticate a whole connection (Negotiate, NTLM). Such a
/// connection is used with only one credential, and by one load at a time.
///
/// A load that authenticates takes a lease: the exclusive right to the connections with a certain name. The requests of
/// the load use only connections with this name. Therefore no other request is sent between the messages of an
/// authentication, and no request without the credential uses the connection afterwards.
final class BoundConnections: Sendable {
    /// A protection space and a credential. Connections that were authenticated for them are used only for them.
    struct Owner: Hashable, Sendable {
        var space: ProtectionSpace
        var credential: URLCredential
    }

    /// A load that waits until it may use connections of a credential.
    private struct Waiting: Sendable {
        /// Whether the load needs new connections. A load that begins an authentication needs them, because the
        /// existing connections of its credential are already authenticated.
        var isNew: Bool
        var then: @Sendable (BoundLease) -> Void
    }

    private struct Place: Sendable {
        /// The connection names that no load uses, with the most recently used name at the end.
        var idle: [UInt64] = []
        /// The number of connection names, including the names that no load uses.
        var count = 0
        var waiting: [Waiting] = []
    }

    private struct State: Sendable {
        var places: [Owner: Place] = [:]
        var lastName: UInt64 = 0
        /// The lowest connection name that may still be used. Lower names are not used again.
        var firstName: UInt64 = 0

        mutating func makeName() -> UInt64 {
            lastName += 1
            return lastName
        }
    }

    /// The maximum number of owners, which are pairs of a protection space and a credential. If it is reached, owners
    /// whose connections no load uses are discarded.
    private static let maximumCount = 256

    private let limit: Int
    private let state = LockedValue(State())

    /// - Parameter limit: The maximum number of loads that use connections of one credential at a time.
    init(limit: Int) { self.limit = max(1, limit) }

    /// Calls a closure with a lease, which is the right to use connections of a credential. The call is made
    /// immediately, or when another load ends its lease.
    ///
    /// - Parameter isNew: Whether the load needs new connections, because existing connections are already
    ///   authenticated.
    func acquire(for owner: Owner, isNew: Bool, then: @escaping @Sendable (BoundLease) -> Void) {
        let name = state.withLock { state -> UInt64? in
            if state.places.count >= Self.maximumCount {
                state.places = state.places.filter { $0.value.idle.count < $0.value.count }
            }
            var place = state.places[owner] ?? Place()
            defer { state.places[owner] = place }
            if let name = place.idle.popLast() { return isNew ? state.makeName() : name }
            guard place.count < limit else {
                place.waiting.append(Waiting(isNew: isNew, then: then))
                return nil
            }
            place.count += 1
            return state.makeName()
        }
        if let name { then(BoundLease(name, owner, self)) }
    }

    /// Ends the use of the connections with a name. If another load waits, it gets the right to use these connections,
    /// or a new name if it needs new connections.
    fileprivate func release(_ name: UInt64, of owner: Owner) {
        let (next, name) = state.withLock { state -> (Waiting?, UInt64) in
            guard name >= state.firstName, var place = state.places[owner] else { return (nil, name) }
            defer { state.places[owner] = place }
            guard let next = place.waiting.first else {
                place.idle.append(name)
                return (nil, name)
            }
            place.waiting.removeFirst()
            return (next, next.isNew ? state.makeName() : name)
        }
        next?.then(BoundLease(name, owner, self))
    }

    /// Makes loads use new connections from now on. This includes the loads that already wait for a connection.
    func forgetAll() {
        let waiting = state.withLock { state -> [(Owner, Waiting)] in
            defer { state.places = [:] }
            state.firstName = state.lastName + 1
            return state.places.flatMap { owner, place in place.waiting.map { (owner, $0) } }
        }
        for (owner, next) in waiting { acquire(for: owner, isNew: true, then: next.then) }
    }
}

/// A load's exclusive right to the connections with a certain name. The lease ends with ``end()``, or when this object
/// is released.
final class BoundLease: Sendable {
    private let serial: UInt64
    let owner: BoundConnections.Owner
    private let connections: BoundConnections
    private let hasEnded = LockedValue(false)

    fileprivate init(_ serial: UInt64, _ owner: BoundConnections.Owner, _ connections: BoundConnections) {
        self.serial = serial
        self.owner = owner
        self.connections = connections
    }

    /// The name that marks the connections of this lease. The name contains neither the user name nor the password.
    var name: String { "\(owner.space.scheme) \(serial)" }

    /// Lets the next load use the connections. Called when the response has ended: this object is released later,
    /// because the thread that started the request can retain it for longer. The caller must not hold a lock.
    func end() {
        let isFirst = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        if isFirst { connections.release(serial, of: owner) }
    }

    deinit { end() }
}
