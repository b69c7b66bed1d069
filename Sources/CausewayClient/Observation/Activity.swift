internal import CausewaySystem

/// Numbers requests and counts those in progress, for an activity indicator.
final class Activity: Sendable {
    private struct State {
        var count = 0
        var lastNumber: UInt64 = 0
        var listeners: [UInt64: AsyncStream<Int>.Continuation] = [:]
        var lastListener: UInt64 = 0

        mutating func change(by difference: Int) {
            count += difference
            guard !listeners.isEmpty else { return }
            // Yield the count while the lock is held, so that listeners receive the counts in order. This is quick,
            // because it only wakes the stream's reader.
            for listener in listeners.values { listener.yield(count) }
        }
    }

    private let state = LockedValue(State())

    deinit {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    /// The number of requests in progress.
    var count: Int { state.withLock { $0.count } }

    /// Counts a new request and returns its number, starting at 1.
    func begin() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            state.change(by: 1)
            return state.lastNumber
        }
    }

    /// Changes the number of requests in progress.
    func add(_ difference: Int) { state.withLock { $0.change(by: difference) } }

    /// Returns a sequence of the current number of requests and each later number. A reader that is too slow gets only
    /// the latest number.
    func updates() -> AsyncStream<Int> {
        let (stream, feed) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        let listener = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = feed
            feed.yield(state.count)
            return state.lastListener
        }
        feed.onTermination = { [weak self] _ in _ = self?.state.withLock { $0.listeners.removeValue(forKey: listener) }
        }
        return stream
    }
}
