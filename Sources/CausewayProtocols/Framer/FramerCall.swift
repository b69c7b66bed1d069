/// What a framer's owner is to call.
package struct FramerCall: Sendable {
    package enum Kind: Equatable, Sendable {
        /// Once, first. Answer with ``FramerStage/startEnded(isReady:)``.
        case start
        /// Input is there, or has ended. Answer with ``FramerStage/inputEnded(wanting:)``.
        case input
        /// A message, or a part of one, is to be sent. Answer with ``FramerStage/outputEnded()``.
        case output
        /// The timer went off. Answer with ``FramerStage/wakeUpEnded()``.
        case wakeUp
        /// The connection is closing. Answer with ``FramerStage/stopEnded(isDone:)``.
        case stop
        /// Once, last. Answer with ``FramerStage/cleanupEnded()``.
        case cleanup
    }

    package var kind: Kind
    /// Of the message to send.
    package var metadata: [any StageMetadata] = []
    /// Bytes of the message to send, or that wait to be parsed.
    package var length = 0
    package var isComplete = false
}

/// What a framer stage asks of its owner.
package enum FramerEvent: StageEvent {
    case call(FramerCall)
}

/// What a framer may look at.
package struct FramerWindow: Sendable {
    /// At most as many as were asked for, and fewer than the minimum if there are not more.
    package var bytes: ArraySlice<UInt8>
    /// Whether they reach to the end of the message, or of the stream.
    package var isComplete: Bool
    /// Whether there are as many as were asked for at least.
    package var meetsMinimum: Bool
}
