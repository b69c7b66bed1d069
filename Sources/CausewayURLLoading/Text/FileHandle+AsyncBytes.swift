internal import CausewaySystem
internal import Dispatch
public import Foundation

extension FileHandle {
    /// The bytes of a file, a pipe or a device from its present position on.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public struct AsyncBytes: AsyncSequence, Sendable {
        /// A byte.
        public typealias Element = UInt8

        let reader: FileHandleReader

        /// Returns an iterator. All iterators read from one place.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }

        /// Reads the bytes.
        public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
            let reader: FileHandleReader
            private var piece = Data()
            private var position = 0

            init(reader: FileHandleReader) { self.reader = reader }

            /// Returns the next byte; `nil` at the end.
            ///
            /// Cancellation: takes effect at the end of a read that waits.
            public mutating func next() async throws -> UInt8? {
                while position >= piece.endIndex {
                    try Task.checkCancellation()
                    guard let next = try await reader.next() else { return nil }
                    piece = next
                    position = next.startIndex
                }
                defer { position += 1 }
                return piece[position]
            }
        }
    }

    /// The bytes from the present position on. macOS 12, iOS 15.
    public var bytes: AsyncBytes { AsyncBytes(reader: FileHandleReader(self)) }
}

/// Reads a handle on a queue: reading a pipe blocks a thread.
final class FileHandleReader: Sendable {
    private let handle: FileHandle
    private let queue = DispatchQueue(label: "causeway.file-handle-bytes", target: .global())

    init(_ handle: FileHandle) { self.handle = handle }

    /// Returns the bytes that are there, after waiting for the first; `nil` at the end.
    func next() async throws -> Data? {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [handle] in
                let data = handle.availableData
                continuation.resume(returning: data.isEmpty ? nil : data)
            }
        }
    }
}
