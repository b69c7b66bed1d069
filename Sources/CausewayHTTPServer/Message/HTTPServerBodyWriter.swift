internal import CausewayProtocols
public import FoundationEssentials

/// Writes the content of a response piece by piece.
public struct HTTPServerBodyWriter: Sendable {
    let exchange: ServerExchange

    /// Sends a piece. Suspends while the client does not read, so at most one piece and 128 KiB wait for a slow client.
    ///
    /// - Throws: ``HTTPServerError`` with the code `clientGone`, or `invalidMessage` if the content is longer than stated;
    ///   `CancellationError`.
    ///
    /// Cancellation: the piece is sent, but this method does not wait for the client.
    // Inlined into a generic function, this method makes the compiler of Swift 6.3.1 crash in release builds.
    @inline(never)
    public func write(_ piece: Data) async throws {
        try await exchange.write(ByteChain(Array(piece)))
    }

    /// Sends a text as a piece.
    ///
    /// - Throws: As ``write(_:)-(Data)``.
    public func write(_ text: String) async throws { try await exchange.write(ByteChain(Array(text.utf8))) }

    /// Sends the elements of a sequence as pieces.
    ///
    /// - Throws: As ``write(_:)-(Data)``; the error of the sequence.
    public func write<Pieces: AsyncSequence>(contentsOf pieces: Pieces) async throws where Pieces.Element == Data {
        var iterator = pieces.makeAsyncIterator()
        while let piece = try await iterator.next() { try await write(piece) }
    }

    /// Sets the trailer fields that follow the content. They are sent if the protocol supports them: in HTTP/2, and in HTTP/1.1 for content
    /// without a stated length.
    public func setTrailers(_ fields: HTTPServerFields) { exchange.setTrailers(fields.section) }
}
