/// An action that an ``ActorEngine`` requests from the code that runs it.
package enum ActorAction<Peer: Hashable & Sendable, Waiter: Sendable>: Sendable {
    /// Send a frame to a peer that is a member.
    case send(ActorFrame, to: Peer)
    /// Perform a call that a peer has sent. First call ``ActorEngine/begin(_:)``, then the distributed function, and
    /// then ``ActorEngine/finish(_:with:)``.
    case serve(ActorCall, ActorService<Peer>)
    /// Cancel a call's task. If the task has not called the distributed function yet, do not call it.
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
    /// The peer violated the protocol. The value describes the violation.
    case violation(String)
    case timedOut
    case cancelled
}

/// The reason why the engine does not send a call.
package enum ActorCallError: Error, Equatable, Sendable {
    case notConnected
    case violation(String)
    case tooManyCalls
}
