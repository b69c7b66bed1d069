internal import CausewaySystem
internal import Synchronization

/// The process's event loops: one per processor, made at first use.
package enum Engine {
    package enum Backend: String, CaseIterable, Sendable { case epoll, dispatchSource = "dispatch-source" }

    private struct Choice: ~Copyable {
        var backend: Backend = .epoll
        var loopCount: Int?
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

    /// The loop for the next connection: they take turns.
    package static func nextLoop() -> any EventLoop {
        let loops = loops
        return loops[(turn.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max) % loops.count]
    }

    package static var loops: [any EventLoop] {
        choice.withLock { choice in
            if choice.loops.isEmpty {
                choice.loops = makeLoops(choice.backend, choice.loopCount ?? Machine.processorCount)
            }
            return choice.loops
        }
    }

    /// The loop of what follows the network itself. Asking the kernel takes some tenths of a millisecond, for which no connection
    /// should wait; and a thread of our own sleeps until something happens, while the pool of Dispatch looks at its workers every
    /// second as soon as it has any.
    package static let networkLoop = makeLoop(choice.withLock { $0.backend }, name: "causeway-net")

    package static func makeLoop(_ backend: Backend, name: String) -> any EventLoop {
        switch backend {
        case .dispatchSource: return DispatchLoop(name: name)
        case .epoll:
            do {
                return try EpollLoop(name: name)
            } catch {
                // Where epoll is forbidden or no descriptor is left, Dispatch may still have its own.
                return DispatchLoop(name: name)
            }
        }
    }

    private static func makeLoops(_ backend: Backend, _ count: Int) -> [any EventLoop] {
        (0..<count).map { makeLoop(backend, name: "causeway-\($0)") }
    }
}
