internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import FoundationEssentials

/// Forwards a framer's calls of ``NWProtocolFramer/Instance`` methods to its `FramerStage`.
///
/// The stage is the state machine that buffers the framer's input and output. After the connection has ended, the calls
/// do nothing.
extension FramerDelegate: FramerHost {
    func markReady() { act(isAnswer: true) { $0.markReady() } }

    func markFailed(_ error: NWError?) {
        let failure = error.map { Failure($0) }
        giveUp()
        act { $0.markFailed(failure) }
    }

    // MARK: Input

    func parseInput(
        _ minimum: Int, _ maximum: Int, _ parse: (UnsafeMutableRawBufferPointer?, Bool) -> Int
    ) -> Bool {
        let window = act { $0.inputWindow(minimum: minimum, maximum: maximum) }
        let count = Self.show(window, to: parse)
        if window != nil { act { $0.advanceInput(by: count) } }
        return window?.meetsMinimum ?? false
    }

    func deliverInput(_ data: Data, _ message: NWProtocolFramer.Message, _ isComplete: Bool) {
        let bytes = ByteChain([UInt8](data))
        let metadata = FramerMetadata(message: message)
        act { $0.deliver(bytes, metadata: [metadata], endsMessage: isComplete) }
    }

    func deliverInputNoCopy(_ length: Int, _ message: NWProtocolFramer.Message, _ isComplete: Bool) -> Bool {
        let metadata = FramerMetadata(message: message)
        return act { $0.deliverNext(length, metadata: [metadata], endsMessage: isComplete) } ?? false
    }

    func passThroughInput() { act { $0.passThroughInput() } }

    // MARK: Output

    func parseOutput(
        _ minimum: Int, _ maximum: Int, _ parse: (UnsafeMutableRawBufferPointer?, Bool) -> Int
    ) -> Bool {
        let window = act { $0.outputWindow(minimum: minimum, maximum: maximum) }
        let count = Self.show(window, to: parse)
        if count > 0 { act { $0.advanceOutput(by: count) } }
        return window?.meetsMinimum ?? false
    }

    func writeOutput(_ data: Data) {
        let bytes = ByteChain([UInt8](data))
        act { $0.write(bytes) }
    }

    func writeOutputNoCopy(_ length: Int) throws(NWError) {
        guard act({ $0.writeNext(length) }) == true else { throw .posix(.EINVAL) }
    }

    func passThroughOutput() { act { $0.passThroughOutput() } }

    // MARK: Timer and connection

    func scheduleWakeup(after delay: Duration?) {
        let deadline = delay.map { System.now + $0 }
        act { $0.scheduleWakeUp(at: deadline) }
    }

    func async(_ body: @escaping () -> Void) {
        let body = Unchecked(body)
        place?.onQueue {
            // After its cleanup, a framer must not be called again.
            guard self.place != nil else { return }
            body.value()
        }
    }

    var remote: NWEndpoint? { context.remote }
    var local: NWEndpoint? { context.local }
    var parameters: NWParameters? { context.parameters }

    func prependApplicationProtocol(_ options: NWProtocolOptions) throws(NWError) {
        guard let place else { throw .posix(.EINVAL) }
        guard place.insert(try context.layer(for: options)) else { throw .posix(.EINVAL) }
    }

    /// Calls `body` with the framer's state machine.
    ///
    /// - Parameter isAnswer: Whether this call restarts the time limit for the stack's handshakes. Pass `true` only
    ///   when the framer reports the end of its handshake. Pass `false` for a call that reads input: otherwise a slow
    ///   peer could keep a handshake open forever.
    @discardableResult
    private func act<Result: Sendable>(
        isAnswer: Bool = false, _ body: @Sendable (inout FramerStage) -> Result
    ) -> Result? {
        place?.withStage(as: FramerStage.self, isAnswer: isAnswer, body)
    }

    /// Passes a copy of the received or outgoing bytes to the framer's closure. The closure gets a copy because it may
    /// write into its buffer, and other parts of the stack may share the original bytes.
    ///
    /// - Returns: The number of bytes to skip: the closure's result, or 0 if there are too few bytes.
    private static func show(
        _ window: FramerWindow?, to parse: (UnsafeMutableRawBufferPointer?, Bool) -> Int
    ) -> Int {
        guard let window, window.meetsMinimum || window.isComplete else {
            _ = parse(nil, false)
            return 0
        }
        return withUnsafeTemporaryAllocation(byteCount: window.bytes.count, alignment: 16) { buffer in
            buffer.copyBytes(from: window.bytes)
            return parse(buffer, window.isComplete)
        }
    }
}
