package import CausewayTypes
package import FoundationEssentials

/// An open bidirectional byte stream, such as an established connection.
///
/// Completions may run on any thread, even before `receive` or `send` returns. They must not block.
package protocol ByteStream: Sendable {
    /// Receives at least one byte, or the end of the stream. Before the next call, the caller must wait for the
    /// completion.
    func receive(atMost limit: Int, _ completion: @escaping @Sendable (ByteArrival) -> Void)

    /// Sends bytes, and calls the completion when the stream has processed them. The caller waits for the completion
    /// before the next send.
    ///
    /// - Parameter isFinal: Whether to end the sending direction. In that case, `content` must be empty.
    func send(_ content: Data, isFinal: Bool, _ completion: @escaping @Sendable (NWError?) -> Void)

    /// Closes the stream gracefully, or aborts it if `isInterrupted` is `true`.
    func close(isInterrupted: Bool)
}

/// The result of one receive.
package struct ByteArrival: Sendable {
    package var content: Data
    /// Whether the peer ended the stream.
    package var isEnd: Bool
    package var error: NWError?

    package init(_ content: Data = Data(), isEnd: Bool = false, error: NWError? = nil) {
        self.content = content
        self.isEnd = isEnd
        self.error = error
    }
}
