internal import CausewayPeerProtocols
internal import Dispatch
internal import Foundation

/// One end of a stream: its handler, and the events that arrived before the handler was set. Events run on the group's queue, in order.
final class StreamState: Sendable {
    private struct State {
        var handler: (@Sendable (PeerInputStream.Event) -> Void)?
        var changed: (@Sendable (PeerFailure?) -> Void)?
        /// Events from before the handler was set. The stream's window bounds them.
        var early: [PeerInputStream.Event] = []
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
            let early = state.withLock { state in
                state.handler = handler
                defer { state.early = [] }
                return state.early
            }
            early.forEach(handler)
        }
    }

    func received(_ bytes: [UInt8]) { post(.data(Data(bytes))) }

    private func post(_ event: PeerInputStream.Event) {
        queue.async { [self] in
            let handler = state.withLock { state in
                if state.handler == nil { state.early.append(event) }
                return state.handler
            }
            handler?(event)
        }
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
        state.withLock { state in
            state.hasEnded = true
            state.failure = failure
        }
        post(failure.map { .failed($0) } ?? .ended)
        guard let failure else { return }
        queue.async { [self] in state.withLock { $0.changed }?(failure) }
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

    /// Releases the handlers.
    func detach() {
        let old = state.withLock { state in
            let old = (state.handler, state.changed)
            (state.handler, state.changed, state.early) = (nil, nil, [])
            return old
        }
        withExtendedLifetime(old) {}
    }
}
