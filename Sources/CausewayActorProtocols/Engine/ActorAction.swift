/// The demand of an ``ActorEngine``.
package enum ActorAction<Peer: Hashable & Sendable, Waiter: Sendable>: Sendable {
    /// Send a frame to a member.
    case send(ActorFrame, to: Peer)
    /// Perform a call: ``ActorEngine/begin(_:)`` before it, ``ActorEngine/finish(_:with:)`` after it.
    case serve(ActorCall, ActorService<Peer>)
    /// Cancel the task of a call. If it has not begun, it is not begun.
    case stop(ActorService<Peer>)
    /// A call of the local system has its outcome.
    case resume(Waiter, ActorOutcome)
    /// The actors under a name changed.
    case changed(ActorListing.Name)
}

/// The end of a call.
package enum ActorOutcome: Equatable, Sendable {
    case reply(ActorReply)
    /// The peer left, with the reason.
    case lost(String)
    /// The peer violated the protocol, with the reason.
    case violation(String)
    case timedOut
    case cancelled
}

/// The reason why a call cannot begin.
package enum ActorCallError: Error, Equatable, Sendable {
    case notConnected
    case violation(String)
    case tooManyCalls
}
