/// An action that an ``ActorEngine`` requests from the code that runs it.
package enum ActorAction<Peer: Hashable & Sendable, Waiter: Sendable>: Sendable {
    /// Send a frame to a member.
    case send(ActorFrame, to: Peer)
    /// Perform a call. Call ``ActorEngine/begin(_:)`` before the function, and ``ActorEngine/finish(_:with:)`` after it.
    case serve(ActorCall, ActorService<Peer>)
    /// Cancel a call's task. If the function was not called yet, do not call it.
    case stop(ActorService<Peer>)
    /// Resume a local caller with the outcome.
    case resume(Waiter, ActorOutcome)
    /// The actors published under a name changed.
    case changed(ActorListing.Name)
}

/// A call's outcome.
package enum ActorOutcome: Equatable, Sendable {
    case reply(ActorReply)
    /// The peer left, with the reason.
    case lost(String)
    /// The peer violated the protocol, with the reason.
    case violation(String)
    case timedOut
    case cancelled
}

/// The reason why a call is not sent.
package enum ActorCallError: Error, Equatable, Sendable {
    case notConnected
    case violation(String)
    case tooManyCalls
}
