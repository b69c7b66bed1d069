public import Distributed

/// The reason why a distributed call failed, other than an error that the called function threw and that could be decoded.
///
/// A task that is cancelled while it waits for a call gets `CancellationError` instead.
public struct PeerActorFailure: DistributedActorSystemError, Hashable, Sendable {
    /// The kind of a failure.
    public struct Code: Hashable, Sendable {
        private enum Kind: Hashable, Sendable {
            case peerLost, timedOut, unknownActor, unknownTarget, invalidArguments, invalidResult, tooLarge
            case tooManyCalls, thrown, cancelledByPeer, unsupported, violation, stopped
        }

        private let kind: Kind

        private init(_ kind: Kind) {
            self.kind = kind
        }

        /// The peer is no member of the session, or left during the call. The function may have run.
        public static let peerLost = Code(.peerLost)
        /// The deadline of the call passed. The function may have run.
        public static let timedOut = Code(.timedOut)
        /// The actor does not exist any more, or it was neither published nor sent by reference.
        public static let unknownActor = Code(.unknownActor)
        /// The program of the peer has no such distributed function in the type of the actor.
        public static let unknownTarget = Code(.unknownTarget)
        /// An argument cannot be encoded or decoded.
        public static let invalidArguments = Code(.invalidArguments)
        /// The result cannot be encoded or decoded. The function has run.
        public static let invalidResult = Code(.invalidResult)
        /// The call or its result has more bytes than the limit allows.
        public static let tooLarge = Code(.tooLarge)
        /// More calls wait than the limit allows.
        public static let tooManyCalls = Code(.tooManyCalls)
        /// The function threw an error that is not in ``PeerActorSystem/Options/errors``. The message describes it.
        public static let thrown = Code(.thrown)
        /// The peer cancelled the call.
        public static let cancelledByPeer = Code(.cancelledByPeer)
        /// The operation is not supported, for example a generic distributed function.
        public static let unsupported = Code(.unsupported)
        /// The peer violated the protocol of the actor system. Its frames are ignored until it joins again.
        public static let violation = Code(.violation)
        /// The local actor system was stopped.
        public static let stopped = Code(.stopped)
    }

    /// The kind of failure.
    public let code: Code
    /// What failed, in one line.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension PeerActorFailure: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}
