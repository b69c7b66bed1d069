/// A call that the owner must make to the program's framer.
package struct FramerCall: Sendable {
    package enum Kind: Equatable, Sendable {
        /// The first call, made once. Answer with ``FramerStage/startEnded(isReady:)``.
        case start
        /// Input has arrived or ended. Answer with ``FramerStage/inputEnded(wanting:)``.
        case input
        /// The program sends a message or a part of one. Answer with ``FramerStage/outputEnded()``.
        case output
        /// The timer expired. Answer with ``FramerStage/wakeUpEnded()``.
        case wakeUp
        /// The connection is closing. Answer with ``FramerStage/stopEnded(isDone:)``.
        case stop
        /// The last call, made once. Answer with ``FramerStage/cleanupEnded()``.
        case cleanup
    }

    package var kind: Kind
    /// The metadata of the message to send.
    package var metadata: [any StageMetadata] = []
    /// The number of bytes of the message to send, or of input to parse.
    package var length = 0
    package var isComplete = false
}

/// An event of a framer stage.
package enum FramerEvent: StageEvent {
    case call(FramerCall)
}

/// A view of input or output for the framer.
package struct FramerWindow: Sendable {
    /// At most the requested maximum; less than the minimum if there are not more bytes.
    package var bytes: ArraySlice<UInt8>
    /// Whether the bytes reach to the end of the message or of the stream.
    package var isComplete: Bool
    /// Whether there are at least as many bytes as the requested minimum.
    package var meetsMinimum: Bool
}
