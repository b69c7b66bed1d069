internal import CausewaySystem
internal import Dispatch

/// Who waits for the answers to pings, under the numbers by which stages know the pings.
///
/// One for the process: a ping is described before it is known which attempt of which connection will send it.
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

    /// Calls the handler on its queue; the second time nothing happens.
    ///
    /// - Parameter error: Why no answer comes; `nil` if it came.
    func finish(_ token: UInt64, _ error: NWError?) {
        guard let waiter = state.withLock({ $0.waiters.removeValue(forKey: token) }) else { return }
        waiter.queue.async { waiter.handler(error) }
    }
}
