internal import CausewaySystem
internal import Dispatch

/// The pong handlers of all pings that wait for a pong. The key is the number with which the stages identify a ping.
///
/// There is one instance per process: when a program creates the metadata of a ping, the connection attempt that will send the ping is not
/// known yet.
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

    /// Calls the handler on its queue. A second call for the same ping has no effect.
    ///
    /// - Parameter error: The reason why no pong arrived; `nil` if one arrived.
    func finish(_ token: UInt64, _ error: NWError?) {
        guard let waiter = state.withLock({ $0.waiters.removeValue(forKey: token) }) else { return }
        waiter.queue.async { waiter.handler(error) }
    }
}
