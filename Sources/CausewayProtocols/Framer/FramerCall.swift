/// A call to the program's framer. The owner of the ``FramerStage`` makes the call.
package struct FramerCall: Sendable {
    package enum Kind: Equatable, Sendable {
        /// The first call, made once. When this call returns, call ``FramerStage/startEnded(isReady:)``.
        case start
        /// Input has arrived or ended. When the call returns, call ``FramerStage/inputEnded(wanting:)``.
        case input
        /// The program sends a message or a part of one. After this call has returned, call
        /// ``FramerStage/outputEnded()``.
        case output
        /// The timer expired. When the call returns, call ``FramerStage/wakeUpEnded()``.
        case wakeUp
        /// The framer's `stop` call: the connection is closing. When the call returns, call
        /// ``FramerStage/stopEnded(isDone:)``.
        case stop
        /// The final call, made once. When this call returns, call ``FramerStage/cleanupEnded()``.
        case cleanup
    }

    package var kind: Kind
    /// The outgoing message's metadata.
    package var metadata: [any StageMetadata] = []
    /// The number of bytes that the framer must send, or the number of input bytes that it must parse.
    package var length = 0
    /// Whether these bytes are the end of the message, or the end of the input.
    package var isComplete = false
}

/// An event of a framer stage.
package enum FramerEvent: StageEvent {
    case call(FramerCall)
}

/// Bytes that the framer can parse. They come from the input, or from a message that the program sends.
package struct FramerWindow: Sendable {
    /// The available bytes, up to the requested maximum. The number can be smaller than the requested minimum.
    package var bytes: ArraySlice<UInt8>
    /// Whether `bytes` contains all bytes up to the end of the message or stream.
    package var isComplete: Bool
    /// Whether `bytes` contains at least the requested minimum number of bytes.
    package var meetsMinimum: Bool
}
