/// A call from a peer, which the local actor system performs.
package struct ActorService<Peer: Hashable & Sendable>: Hashable, Sendable {
    package let peer: Peer
    /// The call number, chosen by the peer.
    package let call: UInt64
    /// A number that is unique for each call. If a peer leaves and joins again, it may reuse a call number. This number
    /// still distinguishes the two calls.
    let serial: UInt64
}

/// Peers' calls that have not been answered yet.
package struct ServiceTable<Peer: Hashable & Sendable>: Sendable {
    package typealias Service = ActorService<Peer>

    enum Admission: Equatable {
        case accepted(Service)
        case duplicate
        case tooManyCalls
        case tooManyBytes
    }

    private enum State: Sendable {
        case waiting(byteCount: Int)
        case running
        case cancelled(isRunning: Bool)
    }

    private struct Account: Sendable {
        var services: [UInt64: Service] = [:]
        var waitingByteCount = 0
    }

    private var states: [Service: State] = [:]
    private var accounts: [Peer: Account] = [:]
    private var newest: UInt64 = 0

    package init() {}

    package var count: Int { states.count }
    package func count(of peer: Peer) -> Int { accounts[peer]?.services.count ?? 0 }
    package func waitingByteCount(of peer: Peer) -> Int { accounts[peer]?.waitingByteCount ?? 0 }

    /// Adds a call from a peer, and returns whether it is admitted. A duplicate call number is a protocol violation.
    /// The caller must refuse the call if it exceeds ``ActorLimits/callCount`` or ``ActorLimits/waitingByteCount``.
    mutating func admit(_ call: UInt64, of peer: Peer, byteCount: Int, _ limits: ActorLimits) -> Admission {
        var account = accounts[peer] ?? Account()
        guard account.services[call] == nil else { return .duplicate }
        guard account.services.count < limits.callCount else { return .tooManyCalls }
        guard account.waitingByteCount + byteCount <= limits.waitingByteCount else { return .tooManyBytes }
        newest &+= 1
        let service = Service(peer: peer, call: call, serial: newest)
        account.services[call] = service
        account.waitingByteCount += byteCount
        accounts[peer] = account
        states[service] = .waiting(byteCount: byteCount)
        return .accepted(service)
    }

    /// Marks a call as running. Returns `false` if it was cancelled, or the peer has left.
    mutating func begin(_ service: Service) -> Bool {
        guard case .waiting(let byteCount) = states[service] else { return false }
        accounts[service.peer]?.waitingByteCount -= byteCount
        states[service] = .running
        return true
    }

    /// Removes a finished call. Returns `false` if the peer has left.
    mutating func end(_ service: Service) -> Bool {
        guard let state = states.removeValue(forKey: service) else { return false }
        forget(service, state)
        return true
    }

    /// Marks a peer's call as cancelled by the peer. Returns the call if its task must be cancelled. The call still
    /// counts towards the peer's maximum number of calls until ``end(_:)``.
    mutating func cancel(_ call: UInt64, of peer: Peer) -> Service? {
        guard let service = accounts[peer]?.services[call], let state = states[service] else { return nil }
        switch state {
        case .waiting(let byteCount):
            accounts[peer]?.waitingByteCount -= byteCount
            states[service] = .cancelled(isRunning: false)
            return service
        case .running:
            states[service] = .cancelled(isRunning: true)
            return service
        case .cancelled: return nil
        }
    }

    /// Removes a peer that left, with its unanswered calls. Returns these calls in call order. The caller must cancel
    /// their tasks.
    mutating func endAll(of peer: Peer) -> [Service] {
        guard let account = accounts.removeValue(forKey: peer) else { return [] }
        for service in account.services.values { states[service] = nil }
        return account.services.values.sorted { $0.serial < $1.serial }
    }

    private mutating func forget(_ service: Service, _ state: State) {
        accounts[service.peer]?.services[service.call] = nil
        if case .waiting(let byteCount) = state { accounts[service.peer]?.waitingByteCount -= byteCount }
        if accounts[service.peer]?.services.isEmpty == true { accounts[service.peer] = nil }
    }
}
