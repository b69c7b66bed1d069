/// A call to the program's framer, which the owner of a ``FramerStage`` must make.
package struct FramerCall: Sendable {
    package enum Kind: Equatable, Sendable {
        /// The first call, made once. When this call returns, call ``FramerStage/startEnded(isReady:)``.
        case start
        /// Input has arrived or ended. When the call returns, call ``FramerStage/inputEnded(wanting:)``.
        case input
        /// The program sends a message or a part of one. When the call returns, call ``FramerStage/outputEnded()``.
        case output
        /// The timer expired. When the call returns, call ``FramerStage/wakeUpEnded()``.
        case wakeUp
        /// The connection is closing. When the call returns, call ``FramerStage/stopEnded(isDone:)``.
        case stop
        /// The last call, made once. When this call returns, call ``FramerStage/cleanupEnded()``.
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

/// Bytes of the input or of a message to send, for the framer to parse.
package struct FramerWindow: Sendable {
    /// The available bytes, up to the requested maximum. The number can be smaller than the requested minimum.
    package var bytes: ArraySlice<UInt8>
    /// Whether `bytes` contains everything up to the end of the message or of the stream.
    package var isComplete: Bool
    /// Whether `bytes` contains at least the requested minimum number of bytes.
    package var meetsMinimum: Bool
}
