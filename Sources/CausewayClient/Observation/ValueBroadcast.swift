internal import CausewaySystem

/// Sends a changing value to any number of asynchronous sequences. A slow reader gets only the latest value.
///
/// Several threads report changes, but only one thread at a time reads and sends the value. So no sequence gets an
/// older value after a newer value. The last value in each sequence is the current value.
package final class ValueBroadcast<Value: Sendable>: Sendable {
    private struct State {
        var listeners: [UInt64: AsyncStream<Value>.Continuation] = [:]
        /// The listeners that have not received the current value.
        var outdated: Set<UInt64> = []
        var lastListener: UInt64 = 0
        /// Whether a thread reads and sends the value.
        var isSending = false
        var hasEnded = false
    }

    private let state = LockedValue(State())

    /// Creates a broadcast without listeners.
    package init() {}

    deinit { end() }

    /// Returns a sequence of the current value and the later ones.
    ///
    /// - Parameter current: Returns the current value. Called several times if other threads report changes meanwhile.
    package func stream(_ current: () -> Value) -> AsyncStream<Value> {
        let (stream, feed) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        // Add the listener first and read the current value afterwards, so that no change is missed.
        let listener = state.withLock { state -> UInt64? in
            guard !state.hasEnded else { return nil }
            state.lastListener += 1
            state.listeners[state.lastListener] = feed
            state.outdated.insert(state.lastListener)
            return state.lastListener
        }
        guard let listener else {
            feed.finish()
            return stream
        }
        feed.onTermination = { [weak self] _ in _ = self?.state.withLock { $0.listeners.removeValue(forKey: listener) }
        }
        send(current)
        return stream
    }

    /// Sends the current value to all sequences.
    ///
    /// - Parameter current: Returns the current value, see ``stream(_:)``. Not called without listeners.
    package func changed(_ current: () -> Value) {
        state.withLock { $0.outdated = Set($0.listeners.keys) }
        send(current)
    }

    /// Ends the sequences of all listeners.
    package func end() {
        let listeners = state.withLock { state in
            state.hasEnded = true
            state.outdated = []
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    private func send(_ current: () -> Value) {
        while let listeners = begin() {
            let value = current()
            for listener in listeners { listener.yield(value) }
            state.withLock { $0.isSending = false }
        }
    }

    /// Begins to send the current value. Returns the listeners that have not received this value. `nil` if there are
    /// none, or if another thread is already sending.
    private func begin() -> [AsyncStream<Value>.Continuation]? {
        state.withLock { state in
            guard !state.isSending, !state.outdated.isEmpty else { return nil }
            state.isSending = true
            defer { state.outdated = [] }
            return state.outdated.compactMap { state.listeners[$0] }
        }
    }
}
