internal import CausewayPeerProtocols
internal import Dispatch
internal import Foundation

/// One end of a stream: its handler, and the data that the handler has not received yet.
///
/// The handler runs on the group's queue.
final class StreamState: Sendable {
    fileprivate struct State {
        var handler: (@Sendable (PeerInputStream.Event) -> Void)?
        var changed: (@Sendable (PeerFailure?) -> Void)?
        /// Bytes that the handler has not received yet. They are kept in one piece. The stream's window limits the
        /// number of bytes, but not the number of pieces in which the sender sends them.
        var waiting = Data()
        /// The stream's final event. It stays here until the handler has received it.
        var end: PeerInputStream.Event?
        var failure: PeerFailure?
        var hasEnded = false
        /// Whether the program closed the receiving end.
        var isClosed = false
    }

    let channel: ChannelID
    private let queue: DispatchQueue
    private let state = LockedValue(State())

    init(_ channel: ChannelID, _ queue: DispatchQueue) {
        self.channel = channel
        self.queue = queue
    }

    var failure: PeerFailure? { state.withLock { $0.failure } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    // MARK: Receiving

    func start(_ handler: @escaping @Sendable (PeerInputStream.Event) -> Void) {
        queue.async { [self] in
            state.withLock { $0.handler = handler }
            deliver()
        }
    }

    func received(_ bytes: [UInt8]) {
        let isFirst = state.withLock { state in
            defer { state.waiting.append(contentsOf: bytes) }
            return state.waiting.isEmpty
        }
        // If earlier bytes are waiting, a delivery is queued already, or there is no handler yet. So queue no other
        // delivery.
        if isFirst { queue.async { [self] in deliver() } }
    }

    /// Passes the bytes that have arrived to the program's handler. Does nothing if there is no handler.
    private func deliver() {
        let (handler, bytes, end) = state.withLock { $0.takeArrived() }
        guard let handler else { return }
        if !bytes.isEmpty { handler(.data(bytes)) }
        if let end { handler(end) }
    }

    // MARK: Sending

    func onChange(_ handler: @escaping @Sendable (PeerFailure?) -> Void) {
        state.withLock { $0.changed = handler }
        if let failure { queue.async { handler(failure) } }
    }

    func hasSpace(_ count: Int) {
        queue.async { [self] in state.withLock { $0.changed }?(nil) }
    }

    // MARK: End

    func ended(_ failure: PeerFailure?) {
        let end: PeerInputStream.Event = failure.map { .failed($0) } ?? .ended
        state.withLock { state in
            state.hasEnded = true
            state.failure = failure
            state.end = end
        }
        queue.async { [self] in
            deliver()
            if let failure { state.withLock { $0.changed }?(failure) }
        }
    }

    /// Records that the program closed the sending end. Releasing the sending end then does not reset the stream.
    func close() { state.withLock { $0.hasEnded = true } }

    /// Records that the program closed the receiving end. Returns whether it was open.
    func closeReceiving() -> Bool {
        state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
    }

    /// Releases the handlers, and drops the data that has arrived.
    func detach() {
        let old = state.withLock { state in
            let old = (state.handler, state.changed)
            (state.handler, state.changed, state.waiting, state.end) = (nil, nil, Data(), nil)
            return old
        }
        withExtendedLifetime(old) {}
    }
}

extension StreamState.State {
    /// Removes the arrived data, and returns it with the handler. If there is no handler, removes nothing and returns
    /// no data.
    fileprivate mutating func takeArrived() -> (
        handler: (@Sendable (PeerInputStream.Event) -> Void)?, bytes: Data, end: PeerInputStream.Event?
    ) {
        guard let handler else { return (nil, Data(), nil) }
        defer { (waiting, end) = (Data(), nil) }
        return (handler, waiting, end)
    }
}
