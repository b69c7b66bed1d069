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

        /// Waits until ``raise()`` is called. If it was already called since the previous wait, this method returns at
        /// once. It ends early if the task is cancelled.
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

    /// Writes bytes, and suspends while the receiver's window of 256 KiB is full. Only one task may write at a time.
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
            // If the stream has ended, it never gets space again. Throw its failure if it has failed since this write
            // began.
            guard !stream.hasEnded else { throw stream.failure ?? PeerFailure(.invalid, "the stream is finished") }
            await signal.wait()
        }
    }

    /// Ends the stream after all written bytes have been sent. If another task is waiting in a write, this write throws
    /// an error.
    public func finish() {
        stream.close()
        signal.raise()
    }
}

/// The receiving end of a byte stream. A reader released before the end resets the stream.
///
/// Read a stream to its end, or release its reader. Until then, the stream counts toward the sender's limit of 256 open
/// streams.
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

    /// Returns an iterator. The sequence is for one consumer: each byte is delivered once.
    public func makeAsyncIterator() -> Iterator {
        let inbox = Inbox()
        // Keep only one signal that bytes have arrived: after a signal, the consumer takes all arrived bytes.
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        stream.start { event in
            inbox.add(event)
            continuation.yield()
        }
        return Iterator(inbox: inbox, signals: signals.makeAsyncIterator(), stream: stream)
    }

    /// Bytes that have arrived and that the program has not taken. The stream's flow-control window limits their
    /// number. They are kept in one piece, because the sender could send very many small pieces.
    final class Inbox: Sendable {
        private struct State {
            var bytes = Data()
            var end: PeerInputStream.Event?
        }

        private let state = LockedValue(State())

        func add(_ event: PeerInputStream.Event) {
            state.withLock { state in
                switch event {
                case .data(let data): state.bytes.append(data)
                case .ended, .failed: state.end = event
                }
            }
        }

        /// Removes and returns the bytes; if there are none, returns the stream's end, or `nil` if the stream has not
        /// ended.
        func take() -> PeerInputStream.Event? {
            state.withLock { state in
                guard !state.bytes.isEmpty else {
                    // Throw a failure only once. After that, report the end of the stream.
                    defer { if state.end != nil { state.end = .ended } }
                    return state.end
                }
                defer { state.bytes = Data() }
                return .data(state.bytes)
            }
        }
    }

    /// Receives bytes in the order in which they were written.
    public struct Iterator: AsyncIteratorProtocol {
        let inbox: Inbox
        var signals: AsyncStream<Void>.Iterator
        let stream: PeerInputStream

        /// Waits for bytes. Returns `nil` at the end of the stream.
        ///
        /// - Throws: ``PeerFailure`` if the sender reset the stream or is gone.
        public mutating func next() async throws -> Data? { try await next(isolation: nil) }

        /// Waits for bytes like ``next()``, in the caller's isolation.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Data? {
            while true {
                switch inbox.take() {
                case .data(let data):
                    stream.consumed(data.count)
                    return data
                case .ended:
                    stream.close()
                    return nil
                case .failed(let failure):
                    stream.close()
                    throw failure
                case nil:
                    // `next` returns `nil` only if the task is cancelled. The stream's sequence of values then ends.
                    guard await signals.next(isolation: actor) != nil else { return nil }
                }
            }
        }
    }
}
