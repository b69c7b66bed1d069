internal import CausewayProtocols
public import FoundationEssentials

/// Writes a response's content in chunks.
public struct HTTPServerBodyWriter: Sendable {
    let destination: ContentDestination

    /// Sends a chunk. Suspends while the client does not read. So at most one chunk and 128 KiB wait for a slow client.
    ///
    /// - Throws: ``HTTPServerError`` with the code `clientGone`, or with the code `invalidMessage` if the content is
    ///   longer than stated; `CancellationError`.
    ///
    /// Cancellation: the chunk is sent, but this method does not wait for the client.
    ///
    /// The method is not inlined, because the Swift 6.3.1 compiler crashes in release builds when it inlines the method
    /// into a generic function.
    @inline(never)
    public func write(_ piece: Data) async throws {
        switch destination {
        case .client(let exchange): try await exchange.write(ByteChain(Array(piece)))
        case .collector(let collector): try collector.append(piece)
        }
    }

    /// Sends a text as a chunk.
    ///
    /// - Throws: As ``write(_:)-(Data)``.
    public func write(_ text: String) async throws {
        switch destination {
        case .client(let exchange): try await exchange.write(ByteChain(Array(text.utf8)))
        case .collector(let collector): try collector.append(Data(text.utf8))
        }
    }

    /// Sends a sequence's elements as chunks.
    ///
    /// - Throws: The errors of ``write(_:)-(Data)``, and the sequence's error.
    public func write<Pieces: AsyncSequence>(contentsOf pieces: Pieces) async throws where Pieces.Element == Data {
        var iterator = pieces.makeAsyncIterator()
        while let piece = try await iterator.next() { try await write(piece) }
    }

    /// Sets the trailer fields. They are sent after the content if the protocol supports them: in HTTP/2, and in
    /// HTTP/1.1 for content without a stated length.
    public func setTrailers(_ fields: HTTPServerFields) {
        switch destination {
        case .client(let exchange): exchange.setTrailers(fields.section)
        case .collector: break
        }
    }
}

/// Where a response's content goes.
enum ContentDestination: Sendable {
    /// To the client that sent the request.
    case client(ServerExchange)
    /// To the program itself, for example a test.
    case collector(ContentCollector)
}
