internal import Causeway
internal import CausewaySystem
internal import Foundation

/// A byte stream that another object can take over without losing or reordering bytes. For this, the pending receive
/// operation can be withdrawn, and received bytes can be returned to the stream.
final class RecallableStream: ByteStream {
    typealias Reader = @Sendable (ByteArrival) -> Void

    private struct State {
        /// Undelivered input: bytes, then the end or an error.
        var unread = ByteArrival()
        var isReceiving = false
        var reader: Reader?

        var hasUnread: Bool { !unread.content.isEmpty || unread.isEnd || unread.error != nil }

        /// Removes and returns buffered bytes. The end and the error stay for later receive operations.
        mutating func take(atMost limit: Int) -> ByteArrival {
            guard unread.content.count > limit else {
                defer { unread.content = Data() }
                return unread
            }
            defer { unread.content = unread.content.dropFirst(limit) }
            return ByteArrival(Data(unread.content.prefix(limit)))
        }
    }

    private let base: any ByteStream
    private let state: LockedValue<State>

    init(_ base: any ByteStream, unread: Data = Data()) {
        self.base = base
        state = LockedValue(State(unread: ByteArrival(unread)))
    }

    func receive(atMost limit: Int, _ completion: @escaping Reader) {
        let (waiting, mustReceive) = state.withLock { state -> (ByteArrival?, Bool) in
            if state.hasUnread { return (state.take(atMost: limit), false) }
            state.reader = completion
            defer { state.isReceiving = true }
            return (nil, !state.isReceiving)
        }
        if let waiting { return completion(waiting) }
        guard mustReceive else { return }
        base.receive(atMost: limit) { [self] arrival in
            let reader = state.withLock { state -> Reader? in
                state.isReceiving = false
                if let reader = state.reader.take() { return reader }
                state.unread.content.append(arrival.content)
                (state.unread.isEnd, state.unread.error) = (arrival.isEnd, arrival.error)
                return nil
            }
            reader?(arrival)
        }
    }

    /// Withdraws the pending receive operation. The bytes for it stay for the next operation. Returns `false` if the
    /// operation's completion was already called, or is being called.
    func recall() -> Bool { state.withLock { state in state.reader.take() != nil } }

    /// Returns received bytes to the buffer. Must not be called while a receive operation is pending.
    func unread(_ content: Data) {
        guard !content.isEmpty else { return }
        state.withLock { state in state.unread.content = content + state.unread.content }
    }

    /// Puts the end of the stream back, so that a later receive operation reports it again.
    func unreadEnd() { state.withLock { state in state.unread.isEnd = true } }

    func send(_ content: Data, isFinal: Bool, _ completion: @escaping @Sendable (NWError?) -> Void) {
        base.send(content, isFinal: isFinal, completion)
    }

    func close(isInterrupted: Bool) { base.close(isInterrupted: isInterrupted) }
}
