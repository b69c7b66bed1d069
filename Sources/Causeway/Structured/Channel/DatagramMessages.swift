public import FoundationEssentials

/// The datagrams of a connection, as an asynchronous sequence that ends when the connection ends or an error occurs.
///
/// Each datagram is received when an iterator is asked for it. All iterators of a connection, and its receive calls, take from the same
/// queue, and each datagram goes to one of them. An iterator that is abandoned loses no datagram.
///
/// Apple's counterpart is an `AsyncThrowingStream`, which takes several locks per element. Where a program declares a variable of that
/// type, the compiler selects the stream.
///
/// Cancellation: `next` throws `.posix(.ECANCELED)`; no datagram is lost.
public struct DatagramMessages: AsyncSequence, Sendable {
    public typealias Element = UDP.Message<Data>
    public typealias Failure = any Error

    let channel: NetworkChannel<UDP>

    /// Creates an iterator. It begins with the oldest datagram that no receive has taken.
    public func makeAsyncIterator() -> Iterator { Iterator(channel: channel) }

    /// Takes the datagrams of a connection one by one.
    public struct Iterator: AsyncIteratorProtocol {
        let channel: NetworkChannel<UDP>
        private var hasEnded = false

        init(channel: NetworkChannel<UDP>) { self.channel = channel }

        /// Receives a datagram; `nil` after the end of the connection or an error. If one has already arrived, this usually returns without
        /// suspending.
        public mutating func next() async throws -> UDP.Message<Data>? {
            try await next(isolation: nil)
        }

        /// Receives a datagram, as ``next()``, in the isolation of the caller.
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
