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

    private static let choice = LockedValue(Choice())
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

    /// Never empty. Without a descriptor for a first loop it is a ``TimerOnlyLoop``, and the next call tries again.
    package static var loops: [any EventLoop] {
        choice.withLock { choice in
            if !choice.loops.isEmpty { return choice.loops }
            let made = makeLoops(
                choice.backend, choice.loopCount ?? System.processorCount, lendsThread: choice.isThreadPromised)
            if !made.isEmpty { choice.loops = made }
            return made.isEmpty ? [stranded] : made
        }
    }

    /// The loop of what follows the network itself. Asking the kernel takes some tenths of a millisecond, for which no connection
    /// should wait; and a thread of our own sleeps until something happens, while the pool of Dispatch looks at its workers every
    /// second as soon as it has any.
    package static var networkLoop: any EventLoop {
        network.withLock { network in
            if let network { return network }
            network = try? watchingLoop(choice.withLock { $0.backend }, name: "causeway-net")
            return network ?? stranded
        }
    }

    private static let network = LockedValue<(any EventLoop)?>(nil)

    /// For a process that has no descriptor left.
    private static let stranded: any EventLoop = {
        let error = SystemError(errno: Errno.tooManyFiles, call: "epoll_create1")
        if let loop = try? TimerOnlyLoop(name: "causeway-none", because: error) { return loop }
        return DispatchLoop(name: "causeway")
    }()

    /// - Parameter name: `nil` for a loop that will be lent a thread.
    package static func makeLoop(_ backend: Backend, name: String?) -> any EventLoop {
        (try? watchingLoop(backend, name: name)) ?? stranded
    }

    /// - Throws: What is in the way where no descriptor or memory is left. Dispatch would end the process there.
    private static func watchingLoop(_ backend: Backend, name: String?) throws(SystemError) -> any EventLoop {
        guard backend == .epoll else { return DispatchLoop(name: name ?? "causeway") }
        do throws(SystemError) {
            return try EpollLoop(name: name)
        } catch {
            switch error.errno {
            case Errno.tooManyFiles, Errno.tooManyFilesInSystem, Errno.noMemory, Errno.noBuffers: throw error
            // Where epoll is forbidden Dispatch may still have its own.
            default: return DispatchLoop(name: name ?? "causeway")
            }
        }
    }

    /// As many as there are descriptors for.
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
