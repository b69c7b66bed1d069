/// A call to the program's framer. The owner of the ``FramerStage`` makes the call.
package struct FramerCall: Sendable {
    package enum Kind: Equatable, Sendable {
        /// The first call, made once. When this call returns, call ``FramerStage/startEnded(isReady:)``.
        case start
        /// Input has arrived or ended. When the call returns, call ``FramerStage/inputEnded(wanting:)``.
        case input
        /// The program sends a message or part of one. When the call returns, call ``FramerStage/outputEnded()``.
        case output
        /// The timer expired. When the call returns, call ``FramerStage/wakeUpEnded()``.
        case wakeUp
        /// The connection is closing. When the call returns, call ``FramerStage/stopEnded(isDone:)``.
        case stop
        /// The final call, made once. When this call returns, call ``FramerStage/cleanupEnded()``.
        case cleanup
    }

    package var kind: Kind
    /// The outgoing message's metadata.
    package var metadata: [any StageMetadata] = []
    /// The number of bytes to send, or the number of input bytes to parse.
    package var length = 0
    /// Whether the message or the input ends with these bytes.
    package var isComplete = false
}

/// An event of a framer stage.
package enum FramerEvent: StageEvent {
    case call(FramerCall)
}

/// Input bytes, or bytes from an outgoing message, for the framer to parse.
package struct FramerWindow: Sendable {
    /// The available bytes, up to the requested maximum. The number can be smaller than the requested minimum.
    package var bytes: ArraySlice<UInt8>
    /// Whether `bytes` contains everything up to the end of the message or stream.
    package var isComplete: Bool
    /// Whether `bytes` contains at least the requested minimum number of bytes.
    package var meetsMinimum: Bool
}
