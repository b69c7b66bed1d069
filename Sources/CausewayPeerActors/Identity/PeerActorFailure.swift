public import Distributed

/// A failed distributed call.
///
/// If the called function throws an error whose type is in ``PeerActorSystem/Options/errors``, the caller gets that
/// error instead. If a task is cancelled while it waits for a call, the task gets `CancellationError`.
public struct PeerActorFailure: DistributedActorSystemError, Hashable, Sendable {
    /// A kind of failure.
    public struct Code: Hashable, Sendable {
        private enum Kind: Hashable, Sendable {
            case peerLost, timedOut, unknownActor, unknownTarget, invalidArguments, invalidResult, tooLarge
            case tooManyCalls, thrown, cancelledByPeer, unsupported, violation, stopped
        }

        private let kind: Kind

        private init(_ kind: Kind) {
            self.kind = kind
        }

        /// The peer is not a member of the session, or left during the call. The function may have run.
        public static let peerLost = Code(.peerLost)
        /// The call's timeout passed. The function may have run.
        public static let timedOut = Code(.timedOut)
        /// The actor no longer exists, or was neither published, shared nor sent by reference.
        public static let unknownActor = Code(.unknownActor)
        /// The actor's type in the peer's program does not contain the called distributed function.
        public static let unknownTarget = Code(.unknownTarget)
        /// An argument cannot be encoded or decoded.
        public static let invalidArguments = Code(.invalidArguments)
        /// The result cannot be encoded or decoded. The function has run.
        public static let invalidResult = Code(.invalidResult)
        /// A size limit was exceeded. For a call and its result, see ``PeerActorSystem/Options/messageByteLimit``; for
        /// the number of published actors, see ``PeerActorSystem/Options/publishedLimit``.
        public static let tooLarge = Code(.tooLarge)
        /// Too many calls wait for the peer.
        public static let tooManyCalls = Code(.tooManyCalls)
        /// The function threw an error of a type that is not in ``PeerActorSystem/Options/errors``. The failure's
        /// message describes the error.
        public static let thrown = Code(.thrown)
        /// The peer cancelled the call.
        public static let cancelledByPeer = Code(.cancelledByPeer)
        /// The operation is not supported, for example a generic distributed function.
        public static let unsupported = Code(.unsupported)
        /// The peer violated the actor protocol. Its frames are ignored until it joins again.
        public static let violation = Code(.violation)
        /// The local actor system was stopped.
        public static let stopped = Code(.stopped)
    }

    /// The kind of failure.
    public let code: Code
    /// A one-line description of the failure.
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
