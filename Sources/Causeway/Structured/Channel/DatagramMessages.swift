public import FoundationEssentials

/// A connection's datagrams, as an asynchronous sequence that ends when the connection ends or an error occurs.
///
/// A datagram is received when the program calls an iterator's ``Iterator/next()``. All iterators and receive calls on
/// a connection take datagrams from one queue, and each datagram is delivered once. No datagram is lost when an
/// iterator is released.
///
/// Apple's `messages` property is an `AsyncThrowingStream`, which is slower because it takes several locks per element.
/// A channel also has a `messages` property of that type. The compiler selects it if the program declares the variable
/// for the sequence as an `AsyncThrowingStream`.
///
/// Cancellation: `next` throws `.posix(.ECANCELED)`; no datagram is lost.
public struct DatagramMessages: AsyncSequence, Sendable {
    /// A datagram and its metadata.
    public typealias Element = UDP.Message<Data>
    /// The error type: always an `NWError`.
    public typealias Failure = any Error

    let channel: NetworkChannel<UDP>

    /// Creates an iterator. The iterator begins with the oldest datagram not received yet.
    public func makeAsyncIterator() -> Iterator { Iterator(channel: channel) }

    /// Receives a connection's datagrams one by one.
    public struct Iterator: AsyncIteratorProtocol {
        let channel: NetworkChannel<UDP>
        private var hasEnded = false

        init(channel: NetworkChannel<UDP>) { self.channel = channel }

        /// Receives a datagram. Returns `nil` after the connection has ended, or if an earlier call has thrown an error. If a datagram has
        /// already arrived, the method usually returns without suspending.
        nonisolated(nonsending) public mutating func next() async throws -> UDP.Message<Data>? {
            try await next(isolation: #isolation)
        }

        /// Receives a datagram like ``next()``, but in the caller's isolation.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(any Error) -> UDP.Message<Data>? {
            guard !hasEnded else { return nil }
            do {
                if let datagram = try await channel.nextDatagram() { return datagram }
            } catch {
                hasEnded = true
                throw error
            }
            hasEnded = true
            return nil
        }
    }
}
