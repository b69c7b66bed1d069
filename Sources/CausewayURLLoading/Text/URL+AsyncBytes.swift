public import Foundation

extension URL {
    /// An asynchronous sequence of the bytes at a URL. The shared session loads the URL when the first byte is read.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public struct AsyncBytes: AsyncSequence, Sendable {
        /// A byte.
        public typealias Element = UInt8

        let url: URL

        /// Returns an iterator. Each iterator loads the content again.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(url: url) }

        /// Reads the content.
        public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
            let url: URL
            private var iterator: URLSession.AsyncBytes.Iterator?

            init(url: URL) { self.url = url }

            /// Returns the next byte, or `nil` at the end.
            ///
            /// Cancellation: cancels the load and throws `URLError.cancelled`.
            nonisolated(nonsending) public mutating func next() async throws -> UInt8? {
                if iterator == nil { iterator = try await URLSession.shared.bytes(from: url).0.makeAsyncIterator() }
                return try await iterator?.next()
            }

            /// Returns the next byte like ``next()``, in the caller's isolation.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> UInt8? {
                try await next()
            }
        }
    }

    /// The bytes at the URL, as an asynchronous sequence.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public var resourceBytes: AsyncBytes { AsyncBytes(url: self) }

    /// The content's lines. Empty lines are skipped.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public var lines: AsyncLineSequence<AsyncBytes> { resourceBytes.lines }
}
