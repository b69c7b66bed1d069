internal import CausewayProtocols
internal import CausewaySystem
internal import Foundation

/// Assigns connections to credentials, for schemes that authenticate a whole connection (Negotiate, NTLM). Such a
/// connection belongs to one credential, and one load at a time uses it.
///
/// A load that authenticates takes a lease, which has a name. The requests of the load use only connections with this
/// name. Therefore no other request is sent between the messages of a handshake, and no request without the credential
/// uses the connection afterwards.
final class BoundConnections: Sendable {
    /// The protection space and the credential to which connections belong.
    struct Owner: Hashable, Sendable {
        var space: ProtectionSpace
        var credential: URLCredential
    }

    /// A load waiting for a lease.
    private struct Waiting: Sendable {
        /// Whether the load needs new connections, because existing connections are already authenticated.
        var isNew: Bool
        var then: @Sendable (BoundLease) -> Void
    }

    private struct Place: Sendable {
        /// The names that no lease uses, the most recently used name at the end.
        var idle: [UInt64] = []
        /// The number of all names, with or without a lease.
        var count = 0
        var waiting: [Waiting] = []
    }

    private struct State: Sendable {
        var places: [Owner: Place] = [:]
        var lastName: UInt64 = 0
        /// The first valid name. Earlier names are not used again.
        var firstName: UInt64 = 0

        mutating func makeName() -> UInt64 {
            lastName += 1
            return lastName
        }
    }

    /// The maximum number of owners. If it is reached, owners without a lease are discarded.
    private static let maximumCount = 256

    private let limit: Int
    private let state = LockedValue(State())

    /// - Parameter limit: The maximum number of loads that use one owner's connections at a time.
    init(limit: Int) { self.limit = max(1, limit) }

    /// Calls a closure with a lease: immediately, or when another load ends its lease.
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

    /// Releases a name. If a load waits, the load gets a lease with this name, or with a new name if the load needs new
    /// connections.
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

    /// Makes later and waiting loads use new connections.
    func forgetAll() {
        let waiting = state.withLock { state -> [(Owner, Waiting)] in
            defer { state.places = [:] }
            state.firstName = state.lastName + 1
            return state.places.flatMap { owner, place in place.waiting.map { (owner, $0) } }
        }
        for (owner, next) in waiting { acquire(for: owner, isNew: true, then: next.then) }
    }
}

/// A load's right to use the connections with a name. The lease ends with ``end()``, or when this object is released.
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

    /// The connections' name. It contains no credential.
    var name: String { "\(owner.space.scheme) \(serial)" }

    /// Releases the name for the next load. Called when the response has ended, because the thread that started the
    /// request can retain this object for longer. The caller must not hold a lock.
    func end() {
        let isFirst = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        if isFirst { connections.release(serial, of: owner) }
    }

    deinit { end() }
}
