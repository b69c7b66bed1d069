internal import CausewaySystem
internal import Dispatch
public import Foundation

extension FileHandle {
    /// An asynchronous sequence of bytes from a file, a pipe or a device, starting at the current position.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public struct AsyncBytes: AsyncSequence, Sendable {
        /// A byte.
        public typealias Element = UInt8

        let reader: FileHandleReader

        /// Returns an iterator. All iterators share one read position.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }

        /// Reads the bytes.
        public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
            let reader: FileHandleReader
            private var piece = Data()
            private var position = 0

            init(reader: FileHandleReader) { self.reader = reader }

            /// Returns the next byte, or `nil` at the end.
            ///
            /// Cancellation: takes effect only after a pending read returns.
            nonisolated(nonsending) public mutating func next() async throws -> UInt8? {
                while position >= piece.endIndex {
                    try Task.checkCancellation()
                    guard let next = try await reader.next() else { return nil }
                    piece = next
                    position = next.startIndex
                }
                defer { position += 1 }
                return piece[position]
            }

            /// Returns the next byte like ``next()``, in the caller's isolation.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> UInt8? {
                try await next()
            }
        }
    }

    /// The bytes from the current position, as an asynchronous sequence.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public var bytes: AsyncBytes { AsyncBytes(reader: FileHandleReader(self)) }
}

/// Reads a file handle on a dispatch queue, because reading a pipe blocks the thread.
final class FileHandleReader: Sendable {
    /// The maximum number of bytes in one read.
    private static let pieceSize = 16 << 10

    private let handle: FileHandle
    private let queue = DispatchQueue(label: "causeway.file-handle-bytes", target: .global())

    init(_ handle: FileHandle) { self.handle = handle }

    /// Waits until bytes are available and returns them, or returns `nil` at the end.
    nonisolated(nonsending) func next() async throws -> Data? {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in continuation.resume(with: Result { try availableBytes() }) }
        }
    }

    /// Returns the available bytes, or `nil` at the end. Blocks until bytes are available or the end is reached.
    ///
    /// This method replaces `FileHandle.availableData`, which ends the process if a read fails. A read of a directory
    /// fails. A read of a terminal or pipe fails if another process has made it non-blocking and no bytes are
    /// available.
    private func availableBytes() throws -> Data? {
        guard handle !== FileHandle.nullDevice else { return nil }
        var bytes = [UInt8](repeating: 0, count: Self.pieceSize)
        while true {
            let count = read(handle.fileDescriptor, &bytes, Self.pieceSize)
            let code = errno
            guard count < 0 else { return count > 0 ? Data(bytes[..<count]) : nil }
            switch code {
            case EINTR: break
            case EAGAIN: waitUntilReadable()
            default: throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
            }
        }
    }

    private func waitUntilReadable() {
        var entry = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, -1)
    }
}
