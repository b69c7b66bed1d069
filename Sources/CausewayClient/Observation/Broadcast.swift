internal import CausewaySystem

/// Sends values to any number of asynchronous sequences.
package final class Broadcast<Element: Sendable>: Sendable {
    private struct State {
        var listeners: [UInt64: AsyncStream<Element>.Continuation] = [:]
        var lastListener: UInt64 = 0
        var hasEnded = false
    }

    private let state = LockedValue(State())

    /// Creates a broadcast without listeners.
    package init() {}

    deinit { end() }

    /// Returns a sequence of the values from now on. A slow reader misses the oldest values.
    ///
    /// - Parameter capacity: The maximum number of buffered values.
    package func stream(capacity: Int) -> AsyncStream<Element> {
        let (stream, feed) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(capacity))
        let listener = state.withLock { state -> UInt64? in
            guard !state.hasEnded else { return nil }
            state.lastListener += 1
            state.listeners[state.lastListener] = feed
            return state.lastListener
        }
        guard let listener else {
            feed.finish()
            return stream
        }
        feed.onTermination = { [weak self] _ in _ = self?.state.withLock { $0.listeners.removeValue(forKey: listener) }
        }
        return stream
    }

    /// Sends a value to all listeners. `element` creates the value, and is called only if there is a listener.
    package func send(_ element: () -> Element) {
        let listeners = state.withLock { state in state.listeners.isEmpty ? [] : Array(state.listeners.values) }
        guard !listeners.isEmpty else { return }
        let element = element()
        for listener in listeners { listener.yield(element) }
    }

    /// Ends all sequences.
    package func end() {
        let listeners = state.withLock { state in
            state.hasEnded = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
