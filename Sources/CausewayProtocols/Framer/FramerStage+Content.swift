/// What a framer hands to above, and what it sends.
extension FramerStage {
    /// Hands a message, or a piece of one, to above.
    package mutating func deliver(_ bytes: ByteChain, metadata: [any StageMetadata], endsMessage: Bool) {
        guard !isOver, !deliveredEnd else { return }
        input.deliver(MessageChunk(bytes, metadata: metadata, endsMessage: endsMessage))
    }

    /// Hands the next `count` bytes at the cursor to above as they are.
    ///
    /// - Returns: Whether all of them were there. If not, the rest follows as it arrives, and until then there is nothing to parse.
    package mutating func deliverNext(_ count: Int, metadata: [any StageMetadata], endsMessage: Bool) -> Bool {
        guard !isOver, !deliveredEnd else { return false }
        return input.deliver(count, metadata: metadata, endsMessage: endsMessage)
    }

    /// The bytes of the message to send. Empty but during ``FramerCall/Kind/output``.
    package mutating func outputWindow(minimum: Int, maximum: Int) -> FramerWindow {
        let (bytes, isComplete) = output.window(maximum)
        let meetsMinimum = bytes.count >= min(minimum, maximum)
        return FramerWindow(bytes: bytes, isComplete: isComplete, meetsMinimum: meetsMinimum)
    }

    package mutating func advanceOutput(by count: Int) { output.skip(count) }

    /// Sends bytes beneath. During a call they become one message with what else is written in it.
    package mutating func write(_ bytes: ByteChain) {
        guard !isOver else { return }
        output.write(bytes)
        if call == nil { output.endCall() }
    }

    /// Sends the next `count` bytes of the message as they are.
    ///
    /// - Returns: `false`, having sent nothing, but during ``FramerCall/Kind/output`` and if the message has as many.
    package mutating func writeNext(_ count: Int) -> Bool {
        !isOver && output.writeNext(count)
    }

    /// From here on the framer does not look at output any more.
    package mutating func passThroughOutput() {
        guard !isOver else { return }
        output.passThrough()
    }
}
