internal import CausewayProtocols
internal import CausewaySystem
internal import Foundation

/// Assigns connections to credentials, for schemes that authenticate a whole connection (Negotiate, NTLM). Such a
/// connection is used with only one credential, and by one load at a time.
///
/// A load that authenticates takes a lease: the exclusive right to the connections with a certain name. All requests of
/// the load use only these connections. So no other request comes between the messages of an authentication. Later
/// requests may use such a connection only with the same credential.
final class BoundConnections: Sendable {
    /// A protection space and a credential. A connection authenticated for them is used only for them.
    struct Owner: Hashable, Sendable {
        var space: ProtectionSpace
        var credential: URLCredential
    }

    /// A load that waits for permission to use the connections of a credential.
    private struct Waiting: Sendable {
        /// Whether the load needs new connections. This is `true` if the load begins an authentication, because the
        /// credential's existing connections are already authenticated.
        var isNew: Bool
        var then: @Sendable (BoundLease) -> Void
    }

    private struct Place: Sendable {
        /// The connection names that no load uses, with the most recently used name at the end.
        var idle: [UInt64] = []
        /// The number of all connection names, used and idle.
        var count = 0
        var waiting: [Waiting] = []
    }

    private struct State: Sendable {
        var places: [Owner: Place] = [:]
        var lastName: UInt64 = 0
        /// The lowest connection name that may be used. Connection names are numbers, and lower numbers are never used
        /// again.
        var firstName: UInt64 = 0

        mutating func makeName() -> UInt64 {
            lastName += 1
            return lastName
        }
    }

    /// The maximum number of owners. An owner is a pair of a protection space and a credential.
    ///
    /// At this number, the owners without any load are discarded.
    private static let maximumCount = 256

    private let limit: Int
    private let state = LockedValue(State())

    /// - Parameter limit: The maximum number of loads that may use one credential's connections at the same time.
    init(limit: Int) { self.limit = max(1, limit) }

    /// Calls a closure with a lease, which is the right to use connections of a credential. If no lease is free now,
    /// the call is made when another load ends its lease.
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

    /// Ends a load's use of the connections with this name.
    ///
    /// If another load waits, it may now use these connections. If the waiting load needs new connections, it gets a
    /// new name instead.
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

    /// Makes all loads use new connections from now on. This includes loads that are already waiting for a connection.
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

    /// The name that marks this lease's connections. It contains neither the user name nor the password.
    var name: String { "\(owner.space.scheme) \(serial)" }

    /// Ends this load's use of the connections, so that the next load can use them. Call this when the response has
    /// ended, and without holding a lock.
    ///
    /// Do not wait until this object is released. The thread that started the request can retain it for longer.
    func end() {
        let isFirst = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        if isFirst { connections.release(serial, of: owner) }
    }

    deinit { end() }
}
