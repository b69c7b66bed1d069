package import CausewayWire
package import FoundationEssentials

/// A response whose body arrives while it is read.
///
/// At most 64 KiB of the body are buffered. When the buffer is full, the connection stops reading. Releasing the stream before the end of
/// the body cancels the request.
package final class HTTPResponseStream: Sendable {
    /// The final response head.
    package let head: HTTPResponseHead
    private let reader: HTTPResponseReader
    private let handle: HTTPRequestHandle
    /// The engine that carries the response. The stream retains it, because an engine closes its connections when it is
    /// released.
    private let engine: HTTPEngine

    init(_ head: HTTPResponseHead, _ reader: HTTPResponseReader, _ handle: HTTPRequestHandle, _ engine: HTTPEngine) {
        self.head = head
        self.reader = reader
        self.handle = handle
        self.engine = engine
    }

    deinit { handle.cancel() }

    /// The interim responses before the final head (RFC 9110 §15.2).
    package var informational: [HTTPResponseHead] { reader.informational }

    /// The trailer fields (RFC 9110 §6.5); `nil` before the end of the body.
    package var trailers: FieldSection? { reader.trailers }

    /// The body as a sequence of chunks. Only one task at a time may read it.
    package var body: Body { Body(stream: self) }

    /// Cancels the request. Has no effect after the end of the body.
    package func cancel() { handle.cancel() }

    /// Reads the next chunk of the body. Returns `nil` at its end.
    ///
    /// Cancellation: cancels the request.
    nonisolated(nonsending) package func read() async throws(HTTPFailure) -> Data? {
        let outcome = await withTaskCancellationHandler {
            await reader.awaitPiece(handle)
        } onCancel: {
            handle.cancel()
        }
        return try outcome.get()
    }

    /// Reads the rest of the body.
    ///
    /// - Throws: ``HTTPFailure/tooLarge(limit:)`` if the body is longer than `limit` bytes.
    package func collect(upTo limit: Int) async throws(HTTPFailure) -> Data {
        var all = Data()
        while let piece = try await read() {
            guard piece.count <= limit - all.count else {
                cancel()
                throw .tooLarge(limit: limit)
            }
            all += piece
        }
        return all
    }

    /// A response body as an asynchronous sequence of chunks.
    package struct Body: AsyncSequence, Sendable {
        let stream: HTTPResponseStream

        package struct AsyncIterator: AsyncIteratorProtocol {
            let stream: HTTPResponseStream

            nonisolated(nonsending) package mutating func next() async throws(HTTPFailure) -> Data? {
                try await stream.read()
            }

            package mutating func next(isolation actor: isolated (any Actor)?) async throws(HTTPFailure) -> Data? {
                try await stream.read()
            }
        }

        package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: stream) }
    }
}
