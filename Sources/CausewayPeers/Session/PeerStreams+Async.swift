public import Foundation

/// A byte stream's sending end. A writer released before ``finish()`` resets the stream.
public final class PeerWriter: Sendable {
    private struct State {
        var waiter: CheckedContinuation<Void, Never>?
        var hasNews = false
    }

    /// The stream's name.
    public let name: String
    private let stream: PeerOutputStream
    private let signal: Signal

    private final class Signal: Sendable {
        private let state = LockedValue(State())

        func raise() {
            state.withLock { state in
                state.hasNews = true
                return state.waiter.take()
            }?.resume()
        }

        /// Returns at the next change. Returns at once if there was a change since the previous wait. Ends early if the
        /// task is cancelled.
        func wait() async {
            await withTaskCancellationHandler {
                await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                    let mustWait = state.withLock { state in
                        guard !state.hasNews, !Task.isCancelled else {
                            state.hasNews = false
                            return false
                        }
                        state.waiter = continuation
                        return true
                    }
                    if !mustWait { continuation.resume() }
                }
            } onCancel: {
                raise()
            }
        }
    }

    init(_ name: String, _ stream: PeerOutputStream) {
        self.name = name
        self.stream = stream
        let signal = Signal()
        self.signal = signal
        stream.onChange { _ in signal.raise() }
    }

    /// Writes bytes, and suspends while the receiver's window of 256 KiB is full. For one task at a time.
    ///
    /// - Throws: ``PeerFailure`` if the receiver reset the stream or is gone, with `invalid` after ``finish()``.
    ///
    /// Cancellation: throws `CancellationError`. The stream then has only part of the bytes. Release the writer, which
    /// resets the stream.
    public func write(_ data: Data) async throws {
        var rest = data[...]
        while !rest.isEmpty {
            try Task.checkCancellation()
            let count = try stream.write(Data(rest.prefix(65_536)))
            rest = rest.dropFirst(count)
            guard count == 0 else { continue }
            // A finished stream gets no space. One that has failed since the write began has its own reason.
            guard !stream.hasEnded else { throw stream.failure ?? PeerFailure(.invalid, "the stream is finished") }
            await signal.wait()
        }
    }

    /// Ends the stream after the written bytes. A write that waits in another task throws.
    public func finish() {
        stream.close()
        signal.raise()
    }
}

/// A byte stream's receiving end. A reader released before the end resets the stream.
///
/// Release a reader after the end: until then, its stream counts among the 256 that the sender may have open.
public final class PeerReader: AsyncSequence, Sendable {
    /// A chunk of the stream.
    public typealias Element = Data

    /// The sender's name for the stream.
    public let name: String
    private let stream: PeerInputStream

    init(_ name: String, _ stream: PeerInputStream) {
        self.name = name
        self.stream = stream
    }

    /// Returns an iterator. For one consumer: each byte is delivered once.
    public func makeAsyncIterator() -> Iterator {
        let (parts, continuation) = AsyncThrowingStream.makeStream(of: Data.self)
        // The stream's window bounds the buffer. The window opens when the program takes bytes.
        stream.start { event in
            switch event {
            case .data(let data): continuation.yield(data)
            case .ended: continuation.finish()
            case .failed(let failure): continuation.finish(throwing: failure)
            }
        }
        return Iterator(parts: parts.makeAsyncIterator(), stream: stream)
    }

    /// Receives bytes in the order in which they were written.
    public struct Iterator: AsyncIteratorProtocol {
        var parts: AsyncThrowingStream<Data, any Error>.Iterator
        let stream: PeerInputStream

        /// Waits for bytes. `nil` at the end of the stream.
        ///
        /// - Throws: ``PeerFailure`` if the sender reset the stream or is gone.
        public mutating func next() async throws -> Data? { try await next(isolation: nil) }

        /// Waits for bytes like ``next()``, in the caller's isolation.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Data? {
            guard let data = try await parts.next(isolation: actor) else { return nil }
            stream.consumed(data.count)
            return data
        }
    }
}
