package import CausewayWire
package import FoundationEssentials

/// A response whose body arrives while it is read.
///
/// At most 64 KiB of the body are buffered. When the buffer is full, the connection stops reading. Releasing the stream before the end of
/// the body cancels the request.
package final class HTTPResponseStream: Sendable {
    /// The head of the final response.
    package let head: HTTPResponseHead
    private let exchange: HTTPExchange
    private let engine: HTTPEngine

    init(_ head: HTTPResponseHead, _ exchange: HTTPExchange, _ engine: HTTPEngine) {
        self.head = head
        self.exchange = exchange
        self.engine = engine
    }

    deinit { engine.core.end(exchange, .cancelled) }

    /// The interim responses that came before the final head (RFC 9110 §15.2).
    package var informational: [HTTPResponseHead] { exchange.informational }

    /// The trailer fields (RFC 9110 §6.5); `nil` before the end of the body.
    package var trailers: FieldSection? { exchange.trailers }

    /// The body as a sequence of pieces. Only one task at a time may read it.
    package var body: Body { Body(stream: self) }

    /// Cancels the request. Has no effect after the end of the body.
    package func cancel() { engine.core.end(exchange, .cancelled) }

    /// Reads the next piece of the body. Returns `nil` at its end.
    ///
    /// Cancellation: cancels the request.
    package func read() async throws(HTTPFailure) -> Data? {
        let outcome = await withTaskCancellationHandler {
            await exchange.awaitPiece(at: engine.core.now)
        } onCancel: {
            engine.core.end(exchange, .cancelled)
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

    /// The body of a response as an asynchronous sequence of pieces.
    package struct Body: AsyncSequence, Sendable {
        let stream: HTTPResponseStream

        package struct AsyncIterator: AsyncIteratorProtocol {
            let stream: HTTPResponseStream

            package mutating func next() async throws(HTTPFailure) -> Data? { try await stream.read() }
        }

        package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: stream) }
    }
}
