internal import CausewaySystem
public import Foundation

extension URLSession {
    /// Loads a request. Returns when the response has arrived, with the content as an asynchronous sequence of bytes.
    ///
    /// The content is received only as fast as the program reads the sequence (back-pressure).
    ///
    /// Cancellation: cancels the task and throws `URLError.cancelled`.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func bytes(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        let channel = ByteChannel()
        let task = makeDataTask(request, .bytes(channel))
        if let core = task.core { channel.attach(core) }
        if let delegate { task.delegate = delegate }
        task.core?.callAnywhere()
        let cancellation = TaskCancellation()
        let response = try await withTaskCancellationHandler {
            cancellation.begin(task)
            return try await channel.response()
        } onCancel: {
            cancellation.cancel()
        }
        return (AsyncBytes(task: task, reader: BytesReader(channel, task)), response)
    }

    /// Loads a URL. Returns when the response has arrived, with the content as an asynchronous sequence of bytes.
    ///
    /// Cancellation: cancels the task and throws `URLError.cancelled`.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public func bytes(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        try await bytes(for: URLRequest(url: url), delegate: delegate)
    }

    /// A response's bytes as an asynchronous sequence. It can be iterated only once.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public struct AsyncBytes: AsyncSequence, Sendable {
        /// A byte.
        public typealias Element = UInt8
        /// The iterator.
        public typealias AsyncIterator = Iterator

        /// The loading task.
        public let task: URLSessionDataTask
        let reader: BytesReader

        /// Returns an iterator. All iterators share one read position.
        public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

        /// Reads the content.
        public struct Iterator: AsyncIteratorProtocol, Sendable {
            let reader: BytesReader
            private var piece = Data()
            private var position = 0

            init(reader: BytesReader) { self.reader = reader }

            /// Returns the next byte, or `nil` at the end.
            ///
            /// Cancellation: cancels the task and throws `URLError.cancelled`.
            @inlinable
            nonisolated(nonsending) public mutating func next() async throws -> UInt8? {
                if let byte = nextOfPiece() { return byte }
                return try await nextOfNewPiece()
            }

            /// Returns the next byte like ``next()``, in the caller's isolation.
            @inlinable
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> UInt8? {
                if let byte = nextOfPiece() { return byte }
                return try await nextOfNewPiece()
            }

            @usableFromInline
            mutating func nextOfPiece() -> UInt8? {
                guard position < piece.endIndex else { return nil }
                defer { position += 1 }
                return piece[position]
            }

            @usableFromInline
            nonisolated(nonsending) mutating func nextOfNewPiece() async throws -> UInt8? {
                while position >= piece.endIndex {
                    guard let next = try await reader.next() else { return nil }
                    piece = next
                    position = next.startIndex
                }
                return nextOfPiece()
            }
        }
    }
}

/// Reads a task's content from the task's channel. Cancels the task when the last reference to this object is released.
final class BytesReader: Sendable {
    private let channel: ByteChannel
    private let task: URLSessionTask

    init(_ channel: ByteChannel, _ task: URLSessionTask) {
        self.channel = channel
        self.task = task
    }

    deinit { task.cancel() }

    nonisolated(nonsending) func next() async throws -> Data? { try await channel.next() }
}
