internal import CausewayTypes

/// The actor protocol without I/O. It manages the outgoing calls of one local system, the calls from its peers, and the
/// published actors.
///
/// After every method call, perform the actions from ``takeActions()``. Call ``advance(to:)`` at ``deadline``. Make
/// only one call at a time. All times are durations since the same instant, which the caller can choose freely.
package struct ActorEngine<Peer: Hashable & Sendable, Waiter: Sendable>: Sendable {
    package typealias Action = ActorAction<Peer, Waiter>

    private struct Member: Sendable {
        var answeredGreetings = 0
        /// The peer's first protocol violation. After the violation, all frames from this peer are ignored.
        var violation: String?
    }

    package let limits: ActorLimits
    package private(set) var calls = CallTable<Peer, Waiter>()
    package private(set) var services = ServiceTable<Peer>()
    package private(set) var directory = ActorDirectory<Peer>()
    private var members: [Peer: Member] = [:]
    private var actions: [Action] = []

    package init(_ limits: ActorLimits = ActorLimits()) {
        self.limits = limits
    }

    /// Returns the actions to perform, in order, and clears the list.
    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    package var deadline: Duration? { calls.earliestDeadline }

    /// The members, in no particular order.
    package var memberList: [Peer] { Array(members.keys) }

    /// Whether frames can be exchanged with a peer.
    package func isMember(_ peer: Peer) -> Bool { members[peer] != nil }

    // MARK: Members

    /// Records that a peer has joined the session. This has no effect if the peer is already a member.
    package mutating func joined(_ peer: Peer) {
        guard members[peer] == nil else { return }
        members[peer] = Member()
        greet(peer, wantsAnswer: true)
    }

    /// Reports that a peer left. Ends calls to the peer and from the peer, and removes the actors that the peer has
    /// published.
    package mutating func left(_ peer: Peer, _ reason: String) {
        guard members.removeValue(forKey: peer) != nil else { return }
        drop(peer, .lost(reason))
    }

    private mutating func drop(_ peer: Peer, _ outcome: ActorOutcome) {
        for waiter in calls.endAll(of: peer) { actions.append(.resume(waiter, outcome)) }
        for service in services.endAll(of: peer) { actions.append(.stop(service)) }
        for name in directory.withdrawAll(by: peer) { actions.append(.changed(name)) }
    }

    private mutating func greet(_ peer: Peer, wantsAnswer: Bool) {
        actions.append(.send(.hello(version: ActorFrame.version, wantsAnswer: wantsAnswer), to: peer))
        for listing in directory.own { actions.append(.send(.publish(listing), to: peer)) }
    }

    private mutating func violated(_ peer: Peer, _ message: String) {
        members[peer]?.violation = message
        drop(peer, .violation(message))
    }

    // MARK: Calls

    /// Registers a call to a peer, and returns the number of the call. The engine does not send the `call` frame: the
    /// code that calls this method must send it.
    package mutating func call(_ peer: Peer, _ waiter: Waiter, until deadline: Duration) throws(ActorCallError)
        -> UInt64
    {
        guard let member = members[peer] else { throw .notConnected }
        if let violation = member.violation { throw .violation(violation) }
        guard calls.count(of: peer) < limits.callCount else { throw .tooManyCalls }
        return calls.add(peer, waiter, until: deadline)
    }

    /// Ends a call. Used if the caller's task was cancelled, or if the frame could not be sent.
    ///
    /// - Parameters:
    ///   - number: The call.
    ///   - peer: The peer that was called.
    ///   - wasSent: Whether the peer may have received the call. If so, a `cancel` frame follows.
    package mutating func cancel(_ number: UInt64, to peer: Peer, wasSent: Bool) {
        guard let waiter = calls.end(number, of: peer) else { return }
        if wasSent { actions.append(.send(.cancel(call: number), to: peer)) }
        actions.append(.resume(waiter, .cancelled))
    }

    /// Ends calls whose deadline has passed. Calling this method late, early or repeatedly is harmless.
    package mutating func advance(to now: Duration) {
        for (number, peer, waiter) in calls.expire(at: now) {
            actions.append(.send(.cancel(call: number), to: peer))
            actions.append(.resume(waiter, .timedOut))
        }
    }

    // MARK: Services

    /// Reports that the function for a call is about to run. Returns `false` if it must not run any more.
    package mutating func begin(_ service: ActorService<Peer>) -> Bool {
        guard services.begin(service) else {
            _ = services.end(service)
            return false
        }
        return true
    }

    /// Reports a call's result. Returns the frame to send; `nil` if the peer left.
    package mutating func finish(_ service: ActorService<Peer>, with reply: ActorReply) -> ActorFrame? {
        guard services.end(service) else { return nil }
        return .reply(call: service.call, reply)
    }

    // MARK: Listings

    /// Publishes a local actor under a key, and announces it to the members. This has no effect if the actor is already
    /// published under the key.
    ///
    /// Returns `false` if the actor cannot be published, because ``ActorLimits/listingCount`` actors are published
    /// already. Peers treat a higher number as a protocol violation.
    package mutating func publish(_ listing: ActorListing) -> Bool {
        guard directory.count(of: nil) < limits.listingCount else { return directory.own.contains(listing) }
        guard directory.publish(listing, by: nil) else { return true }
        announce(.publish(listing), listing.name)
        return true
    }

    /// Withdraws the publication of a local actor under one key.
    package mutating func withdraw(_ listing: ActorListing) {
        guard directory.withdraw(listing, by: nil) else { return }
        announce(.withdraw(listing), listing.name)
    }

    /// Whether a local actor is published under any key.
    package func isPublished(_ actor: UInt64) -> Bool { directory.own.contains { $0.actor == actor } }

    /// Reports that a local actor ended. Withdraws the actor from all keys under which it is published.
    package mutating func resigned(_ actor: UInt64) {
        for listing in directory.withdrawAll(actor: actor) { announce(.withdraw(listing), listing.name) }
    }

    private mutating func announce(_ frame: ActorFrame, _ name: ActorListing.Name) {
        for (peer, member) in members where member.violation == nil { actions.append(.send(frame, to: peer)) }
        actions.append(.changed(name))
    }

    // MARK: Frames

    /// Handles a member's message. A malformed frame is a violation: the member's calls end, and its later frames are
    /// ignored.
    package mutating func received(_ bytes: [UInt8], from peer: Peer) {
        guard let member = members[peer], member.violation == nil else { return }
        let frame: ActorFrame
        do {
            frame = try ActorFrame(bytes)
        } catch {
            return violated(peer, "malformed frame: \(error.message) at byte \(error.offset)")
        }
        switch frame {
        case .hello(let version, let wantsAnswer): greeted(peer, version, wantsAnswer)
        case .call(let call): called(call, peer, byteCount: bytes.count)
        case .reply(let number, let reply):
            // After a timeout or a cancellation, the table no longer contains the call. In that case, ignore the reply.
            if let waiter = calls.end(number, of: peer) { actions.append(.resume(waiter, .reply(reply))) }
        case .cancel(let number):
            if let service = services.cancel(number, of: peer) { actions.append(.stop(service)) }
        case .publish(let listing): published(listing, peer)
        case .withdraw(let listing):
            if directory.withdraw(listing, by: peer) { actions.append(.changed(listing.name)) }
        case .skipped: break
        }
    }

    private mutating func greeted(_ peer: Peer, _ version: UInt8, _ wantsAnswer: Bool) {
        guard version == ActorFrame.version else {
            return violated(peer, "version \(version) of the actor protocol; \(ActorFrame.version) is supported")
        }
        guard wantsAnswer else { return }
        members[peer]?.answeredGreetings += 1
        // Limit the number of greetings that are answered per peer: each answer contains all published actors of the
        // local system.
        guard let count = members[peer]?.answeredGreetings, count <= ActorLimits.greetingCount else {
            return violated(peer, "more than \(ActorLimits.greetingCount) greetings of new actor systems")
        }
        // A second greeting comes from a new actor system at the peer. The new system does not know the earlier
        // system's calls and published actors. So end these calls and remove these actors.
        if count > 1 { drop(peer, .lost("the peer has another actor system now")) }
        greet(peer, wantsAnswer: false)
    }

    private mutating func called(_ call: ActorCall, _ peer: Peer, byteCount: Int) {
        guard byteCount <= limits.frameByteCount else {
            let text = "a call of \(byteCount) bytes; at most \(limits.frameByteCount) are accepted"
            return refuse(call, .tooLarge, text, peer)
        }
        switch services.admit(call.id, of: peer, byteCount: byteCount, limits) {
        case .accepted(let service): actions.append(.serve(call, service))
        case .duplicate: violated(peer, "two calls with the number \(call.id)")
        case .tooManyCalls:
            let text = "\(limits.callCount) calls of this peer have no result yet, and more are not accepted"
            refuse(call, .tooManyCalls, "\(text): await a result before the next call", peer)
        case .tooManyBytes:
            let text = "calls of \(services.waitingByteCount(of: peer)) bytes from this peer have not begun, and with"
            let limit = "\(byteCount) more bytes they exceed \(limits.waitingByteCount)"
            refuse(call, .tooManyCalls, "\(text) \(limit): await a result before the next call", peer)
        }
    }

    private mutating func refuse(_ call: ActorCall, _ refusal: ActorRefusal, _ text: String, _ peer: Peer) {
        actions.append(.send(.reply(call: call.id, .refused(refusal, text)), to: peer))
    }

    private mutating func published(_ listing: ActorListing, _ peer: Peer) {
        guard directory.count(of: peer) < limits.listingCount else {
            return violated(peer, "more than \(limits.listingCount) published actors")
        }
        if directory.publish(listing, by: peer) { actions.append(.changed(listing.name)) }
    }
}

extension ActorEngine: QueueingMachine {
    package var hasEnded: Bool { false }
}
