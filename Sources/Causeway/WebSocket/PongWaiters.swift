internal import CausewaySystem
internal import Dispatch

/// Stores the pong handlers for all unanswered pings. The key is the ping's number. The WebSocket state machine reports
/// this number when the pong has arrived.
///
/// All connections share one instance. When a ping's metadata is created, it is not yet known which connection attempt
/// will send the ping.
final class PongWaiters: Sendable {
    static let shared = PongWaiters()

    private struct Waiter: Sendable {
        let queue: DispatchQueue
        let handler: NWProtocolWebSocket.Metadata.PongHandler
    }

    private struct State: Sendable {
        var waiters: [UInt64: Waiter] = [:]
        var lastToken: UInt64 = 0
    }

    private let state = LockedValue(State())

    func add(_ queue: DispatchQueue, _ handler: @escaping NWProtocolWebSocket.Metadata.PongHandler) -> UInt64 {
        let waiter = Waiter(queue: queue, handler: handler)
        return state.withLock { state in
            state.lastToken += 1
            state.waiters[state.lastToken] = waiter
            return state.lastToken
        }
    }

    /// Calls a ping's handler on its queue. A second call for the same ping has no effect.
    ///
    /// - Parameter error: The reason why no pong arrived; `nil` if the pong arrived.
    func finish(_ token: UInt64, _ error: NWError?) {
        guard let waiter = state.withLock({ $0.waiters.removeValue(forKey: token) }) else { return }
        waiter.queue.async { waiter.handler(error) }
    }
}
