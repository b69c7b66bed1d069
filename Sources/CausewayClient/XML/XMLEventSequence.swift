extension AsyncSequence where Element == UInt8 {
    /// Parses a stream of XML while it arrives, for ``HTTPClient/stream(_:statuses:_:)``.
    ///
    /// ```swift
    /// try await client.stream(ClientRequest("GET", "catalog")) { response, bytes in
    ///     for try await event in bytes.xmlEvents() {
    ///         if case .startElement(let name, _) = event { print(name) }
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - charset: The encoding named by the response; `nil` for none.
    ///   - limits: The limits on the document's cost. The number of nodes is not limited, because nodes are not kept.
    ///   - recovers: Whether to recover from violations of XML's rules. Otherwise the sequence fails with ``XMLTree/Problem``.
    public func xmlEvents(
        charset: String? = nil, limits: XMLTree.Limits = XMLTree.Limits(), recovers: Bool = false
    ) -> XMLEventSequence<Self> {
        XMLEventSequence(base: self, charset: charset, limits: limits, recovers: recovers)
    }
}

/// The XML events in a document. The document arrives as a sequence of bytes.
public struct XMLEventSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    let base: Base
    let charset: String?
    let limits: XMLTree.Limits
    let recovers: Bool

    /// Creates the iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            bytes: base.makeAsyncIterator(), reader: XMLEventReader(charset: charset, limits: limits),
            recovers: recovers)
    }

    /// Reads the bytes and returns the events.
    public struct Iterator: AsyncIteratorProtocol {
        /// The number of bytes to read before parsing, unless a tag ends earlier.
        private static var pieceByteCount: Int { 4_096 }

        private var bytes: Base.AsyncIterator
        private var reader: XMLEventReader
        private let recovers: Bool
        private var ready: ArraySlice<XMLStreamEvent> = []
        private var isAtEnd = false

        init(bytes: Base.AsyncIterator, reader: XMLEventReader, recovers: Bool) {
            self.bytes = bytes
            self.reader = reader
            self.recovers = recovers
        }

        /// Returns the next event; `nil` at the end of the document.
        ///
        /// Cancellation: the byte sequence defines the effect.
        public mutating func next() async throws -> XMLStreamEvent? { try await next(isolation: nil) }

        /// Returns the next event like ``next()``, in the caller's isolation.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> XMLStreamEvent? {
            while ready.isEmpty, !isAtEnd {
                var piece: [UInt8] = []
                while piece.count < Self.pieceByteCount, let byte = try await bytes.next(isolation: actor) {
                    piece.append(byte)
                    // In every XML encoding, a tag ends with the byte of `>` or with one byte after it. So end the
                    // piece after this byte.
                    if byte == 0x3E { break }
                }
                var events: [XMLStreamEvent] = []
                if piece.isEmpty {
                    isAtEnd = true
                    reader.finish { events.append($0) }
                } else {
                    reader.read(piece) { events.append($0) }
                }
                ready = events[...]
                if !recovers, let problem = reader.problems.first { throw problem }
            }
            return ready.popFirst()
        }
    }
}

@available(*, unavailable)
extension XMLEventSequence.Iterator: Sendable {}

extension XMLEventSequence: Sendable where Base: Sendable {}
