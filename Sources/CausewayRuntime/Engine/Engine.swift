internal import CausewaySystem
internal import Synchronization

/// The process's event loops: one for each processor, created on first use.
package enum Engine {
    package enum Backend: String, CaseIterable, Sendable { case epoll, dispatchSource = "dispatch-source" }

    private struct Choice: ~Copyable {
        var backend: Backend = .epoll
        var loopCount: Int?
        /// Whether a caller has promised a thread on which the first loop runs.
        var isThreadPromised = false
        var loops: [any EventLoop] = []
    }

    private static let choice = LockedValue(Choice())
    private static let turn = Atomic<Int>(0)

    /// Selects the backend. Returns whether it is in effect: the backend cannot change after the first loop has
    /// started.
    @discardableResult
    package static func select(_ backend: Backend) -> Bool {
        choice.withLock { choice in
            guard choice.loops.isEmpty else { return choice.backend == backend }
            choice.backend = backend
            return true
        }
    }

    /// Selects the number of event loops. Returns whether this number is in effect. It cannot change after the first
    /// loop has started.
    @discardableResult
    package static func select(loopCount: Int) -> Bool {
        choice.withLock { choice in
            guard choice.loops.isEmpty else { return choice.loops.count == loopCount }
            choice.loopCount = max(1, loopCount)
            return true
        }
    }

    /// Promises the caller's thread to the first loop. That loop then creates no thread, and starts to run when the
    /// caller calls ``keepPromise()``, so the process has one thread less to schedule. Has no effect on a backend whose
    /// loops cannot run on an existing thread.
    package static func promiseThread() {
        choice.withLock { choice in if choice.loops.isEmpty { choice.isThreadPromised = true } }
    }

    /// Runs the first loop on this thread if ``promiseThread()`` has reserved the thread for it, and then never
    /// returns. Otherwise returns at once.
    package static func keepPromise() {
        let first = choice.withLock { choice in choice.isThreadPromised ? choice.loops.first : nil }
        if let loop = first as? EpollLoop { loop.runHere() }
    }

    /// Returns the loop for the next connection, in round-robin order.
    package static func nextLoop() -> any EventLoop {
        let loops = loops
        return loops[(turn.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max) % loops.count]
    }

    /// The event loop that runs on the current thread. `nil` if the thread runs no loop.
    package static var current: (any EventLoop)? {
        choice.withLock { choice in choice.loops }.first { $0.isCurrent }
    }

    /// All event loops; never empty. Without a free descriptor for the first loop, this is only a ``TimerOnlyLoop``.
    /// The next access then tries again to create loops.
    package static var loops: [any EventLoop] {
        choice.withLock { choice in
            if !choice.loops.isEmpty { return choice.loops }
            let made = makeLoops(
                choice.backend, choice.loopCount ?? System.processorCount, lendsThread: choice.isThreadPromised)
            if !made.isEmpty { choice.loops = made }
            return made.isEmpty ? [stranded] : made
        }
    }

    /// The loop for monitoring the network state.
    ///
    /// This loop is separate, because a kernel query takes some tenths of a millisecond and must not delay a
    /// connection. Its own thread sleeps until an event occurs. A thread from the Dispatch pool would wake more often,
    /// because the pool checks its workers every second.
    package static var networkLoop: any EventLoop {
        network.withLock { network in
            if let network { return network }
            network = try? watchingLoop(choice.withLock { $0.backend }, name: "causeway-net")
            return network ?? stranded
        }
    }

    private static let network = LockedValue<(any EventLoop)?>(nil)

    /// The loop for a process without free descriptors.
    private static let stranded: any EventLoop = {
        let error = SystemError(errno: Errno.tooManyFiles, call: "epoll_create1")
        if let loop = try? TimerOnlyLoop(name: "causeway-none", because: error) { return loop }
        return DispatchLoop(name: "causeway")
    }()

    /// - Parameter name: The name of the loop's thread. Pass `nil` if the loop will run on the caller's thread.
    package static func makeLoop(_ backend: Backend, name: String?) -> any EventLoop {
        (try? watchingLoop(backend, name: name)) ?? stranded
    }

    /// Creates a loop that can watch descriptors.
    ///
    /// - Throws: The system error if no descriptors or memory are left. In that case, Dispatch itself would abort the
    ///   process.
    private static func watchingLoop(_ backend: Backend, name: String?) throws(SystemError) -> any EventLoop {
        guard backend == .epoll else { return try DispatchLoop.checked(name: name) }
        do throws(SystemError) {
            return try EpollLoop(name: name)
        } catch {
            switch error.errno {
            case Errno.tooManyFiles, Errno.tooManyFilesInSystem, Errno.noMemory, Errno.noBuffers: throw error
            // If the system does not permit epoll, try Dispatch, which may work with another system interface.
            default: return try DispatchLoop.checked(name: name)
            }
        }
    }

    /// Creates up to `count` loops, fewer if the descriptors run out.
    private static func makeLoops(_ backend: Backend, _ count: Int, lendsThread: Bool) -> [any EventLoop] {
        var loops: [any EventLoop] = []
        for number in 0..<count {
            let name = number == 0 && lendsThread ? nil : "causeway-\(number)"
            guard let loop = try? watchingLoop(backend, name: name) else { break }
            loops.append(loop)
        }
        return loops
    }
}
