internal import CausewaySystem
internal import Synchronization

/// The process's event loops: one per processor, made at first use.
package enum Engine {
    package enum Backend: String, CaseIterable, Sendable { case epoll, dispatchSource = "dispatch-source" }

    private struct Choice: ~Copyable {
        var backend: Backend = .epoll
        var loopCount: Int?
        /// The first loop is to run on a thread that is there already.
        var isThreadPromised = false
        var loops: [any EventLoop] = []
    }

    private static let choice = Guarded(Choice())
    private static let turn = Atomic<Int>(0)

    /// Chooses the backend. Returns whether it was in time: once a loop runs, nothing changes any more.
    @discardableResult
    package static func select(_ backend: Backend) -> Bool {
        choice.withLock { choice in
            guard choice.loops.isEmpty else { return choice.backend == backend }
            choice.backend = backend
            return true
        }
    }

    /// Chooses how many loops there are. Returns whether it was in time.
    @discardableResult
    package static func select(loopCount: Int) -> Bool {
        choice.withLock { choice in
            guard choice.loops.isEmpty else { return choice.loops.count == loopCount }
            choice.loopCount = max(1, loopCount)
            return true
        }
    }

    /// Promises the first loop the caller's thread: it makes none of its own, and runs once ``keepPromise()`` is called. One thread
    /// less is stopped, continued, scheduled and looked after. Nothing changes where the backend has no loop that can be lent a thread.
    package static func promiseThread() {
        choice.withLock { choice in if choice.loops.isEmpty { choice.isThreadPromised = true } }
    }

    /// Runs the loop that was promised this thread, and does not return. Does nothing if there is none.
    package static func keepPromise() {
        let first = choice.withLock { choice in choice.isThreadPromised ? choice.loops.first : nil }
        if let loop = first as? EpollLoop { loop.runHere() }
    }

    /// The loop for the next connection: they take turns.
    package static func nextLoop() -> any EventLoop {
        let loops = loops
        return loops[(turn.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max) % loops.count]
    }

    /// The loop whose thread this is.
    package static var current: (any EventLoop)? {
        choice.withLock { choice in choice.loops }.first { $0.isCurrent }
    }

    package static var loops: [any EventLoop] {
        choice.withLock { choice in
            if choice.loops.isEmpty {
                choice.loops = makeLoops(
                    choice.backend, choice.loopCount ?? Machine.processorCount, lendsThread: choice.isThreadPromised)
            }
            return choice.loops
        }
    }

    /// The loop of what follows the network itself. Asking the kernel takes some tenths of a millisecond, for which no connection
    /// should wait; and a thread of our own sleeps until something happens, while the pool of Dispatch looks at its workers every
    /// second as soon as it has any.
    package static let networkLoop = makeLoop(choice.withLock { $0.backend }, name: "causeway-net")

    /// - Parameter name: `nil` for a loop that will be lent a thread.
    package static func makeLoop(_ backend: Backend, name: String?) -> any EventLoop {
        // Where epoll is forbidden or no descriptor is left, Dispatch may still have its own.
        if backend == .epoll, let loop = try? EpollLoop(name: name) { return loop }
        return DispatchLoop(name: name ?? "causeway")
    }

    private static func makeLoops(_ backend: Backend, _ count: Int, lendsThread: Bool) -> [any EventLoop] {
        (0..<count).map { makeLoop(backend, name: $0 == 0 && lendsThread ? nil : "causeway-\($0)") }
    }
}
