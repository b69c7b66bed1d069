/// Methods for the framer to parse, deliver and send content.
extension FramerStage {
    /// Returns the bytes at the cursor without moving it. The framer moves the cursor with ``advanceInput(by:)``.
    package mutating func inputWindow(minimum: Int, maximum: Int) -> FramerWindow {
        guard !isOver else { return FramerWindow(bytes: [], isComplete: false, meetsMinimum: false) }
        return reading.window(minimum: minimum, maximum: maximum)
    }

    /// Moves the cursor by `count` bytes. If fewer have arrived, the rest is skipped on arrival.
    package mutating func advanceInput(by count: Int) {
        guard !isOver else { return }
        reading.advance(by: count)
    }

    /// Passes all further input to the stage above, without calls to the framer.
    ///
    /// If the framer has read bytes with ``inputWindow(minimum:maximum:)`` but has not moved the cursor yet, the pass-through waits for
    /// ``advanceInput(by:)`` or the end of the call. The bytes that the framer has parsed are then not delivered.
    package mutating func passThroughInput() {
        guard !isOver else { return }
        reading.passThrough()
    }

    /// Delivers a message, or part of one, to the stage above.
    package mutating func deliver(_ bytes: ByteChain, metadata: [any StageMetadata], endsMessage: Bool) {
        guard !isOver, !reading.hasDeliveredEnd else { return }
        reading.deliver(MessageChunk(bytes, metadata: metadata, endsMessage: endsMessage))
    }

    /// Delivers the next `count` bytes at the cursor to the stage above, unchanged.
    ///
    /// - Returns: Whether all `count` bytes have arrived. If not, the missing bytes follow when they arrive; until then the framer has no
    ///   input to parse.
    package mutating func deliverNext(_ count: Int, metadata: [any StageMetadata], endsMessage: Bool) -> Bool {
        guard !isOver, !reading.hasDeliveredEnd else { return false }
        return reading.deliver(count, metadata: metadata, endsMessage: endsMessage)
    }

    /// Returns the outgoing message's next bytes. Empty outside a ``FramerCall/Kind/output`` call.
    package mutating func outputWindow(minimum: Int, maximum: Int) -> FramerWindow {
        let (bytes, isComplete) = output.window(maximum)
        let meetsMinimum = bytes.count >= min(minimum, maximum)
        return FramerWindow(bytes: bytes, isComplete: isComplete, meetsMinimum: meetsMinimum)
    }

    package mutating func advanceOutput(by count: Int) { output.skip(count) }

    /// Sends bytes to the stage below. All bytes written during one call become one message.
    package mutating func write(_ bytes: ByteChain) {
        guard !isOver else { return }
        output.write(bytes)
        if call == nil { output.endCall() }
    }

    /// Sends the next `count` bytes of the message unchanged.
    ///
    /// - Returns: `false`, without sending anything, outside a ``FramerCall/Kind/output`` call and if the message has
    ///   fewer bytes.
    package mutating func writeNext(_ count: Int) -> Bool {
        !isOver && output.writeNext(count)
    }

    /// Passes all further output to the stage below, without calls to the framer.
    package mutating func passThroughOutput() {
        guard !isOver else { return }
        output.passThrough()
    }
}
