internal import CausewaySystem
package import CausewayTypes
package import Dispatch

/// Runs the program's callbacks in order on one queue, or Causeway's own code on one event loop. One event batch needs
/// only one dispatch for all its calls.
///
/// A new call goes to the end of a list, and a dispatched block makes the calls in the list. If one of these calls adds
/// further calls, the same block makes them too, up to a limit. The remaining calls are made in a new block, so that
/// other work in the queue can run first.
package final class Delivery: Sendable {
    package enum Item: Sendable {
        case received(ReceiveCompletion, ReceivedContent)
        case sent(SendCompletion, Failure?)
        case call(@Sendable () -> Void)
        /// A closure that makes several calls to the program and returns the number of these calls.
        case calls(@Sendable () -> Int)
    }

    fileprivate struct State {
        let items = Ring<Item>()
        /// Whether a block that will make the listed calls is in the queue, or will be added to it when an event batch
        /// ends.
        var isDispatched = false
        /// Only for a concurrent queue: the number of items in the list for which no block has been dispatched yet.
        var undispatched = 0
    }

    /// The number of calls that one block makes before other work in the queue runs.
    private static let budget = 256

    /// The queue on which the calls run; `nil` if they run on an event loop.
    package let queue: DispatchQueue?
    /// The event loop on which the calls run; `nil` if they run on a queue.
    private let loop: (any EventLoop)?
    /// Whether the queue is concurrent. On such a queue, each item gets a separate block, because one callback may wait
    /// for another.
    private let isConcurrent: Bool
    private let state = LockedValue(State())

    init(_ queue: DispatchQueue) {
        self.queue = queue
        loop = nil
        isConcurrent = Self.isGlobal(queue)
    }

    /// Creates a delivery whose calls run on an event loop, when the event batch ends. The calls must not block.
    init(_ loop: any EventLoop) {
        queue = nil
        self.loop = loop
        isConcurrent = false
    }

    /// Whether the calls run on an event loop.
    package var isOnLoop: Bool { loop != nil }

    /// Whether the delivery makes only one call at a time.
    var isSerial: Bool { !isConcurrent }

    /// Returns whether `queue` is a global queue, which is concurrent. Dispatch has no property for this, but global
    /// queues' labels have a fixed prefix.
    static func isGlobal(_ queue: DispatchQueue) -> Bool { queue.label.hasPrefix("com.apple.root.") }

    /// The delivery for flows to which the program assigned no queue.
    static let fallback = Delivery(.global())

    // MARK: Adding

    /// Adds a callback to the list of calls. Returns whether the caller must call ``dispatch()`` after releasing its
    /// locks.
    package func add(_ item: Item) -> Bool {
        let isOwnDrain = isDraining
        return state.withLock { state in
            state.items.append(item)
            if isConcurrent {
                state.undispatched += 1
                return true
            }
            if isOwnDrain || state.isDispatched { return false }
            state.isDispatched = true
            return true
        }
    }

    /// Whether the current thread is inside a call made by this delivery.
    package var isDraining: Bool { ThreadLocal.delivery == Unmanaged.passUnretained(self).toOpaque() }

    package func dispatch() {
        guard let queue else {
            loop?.execute { self.drain() }
            return
        }
        guard isConcurrent else { return queue.async { self.drain() } }
        let count = state.withLock { state in
            defer { state.undispatched = 0 }
            return state.undispatched
        }
        for _ in 0..<count { queue.async { self.drainOne() } }
    }

    /// Makes the pending calls now if the current thread belongs to their event loop. Otherwise calls ``dispatch()``.
    /// Called on a loop's thread when a batch of events ends.
    fileprivate func dispatchInBatch() {
        if loop?.isCurrent == true { drain() } else { dispatch() }
    }

    /// Calls ``dispatch()``: on the loop's thread when the current event batch ends, on another thread at once.
    func dispatch(behindBatchOf loop: any EventLoop) {
        if loop.isCurrent { loop.dispatchAfterBatch(self) } else { dispatch() }
    }

    /// Adds an item, which contains a callback, to the queue of callbacks. Calls ``dispatch()`` if necessary.
    ///
    /// The caller must hold no lock.
    package func post(_ item: Item) {
        if add(item) { dispatch() }
    }

    // MARK: Draining

    private func drain() {
        let outer = ThreadLocal.delivery
        ThreadLocal.delivery = Unmanaged.passUnretained(self).toOpaque()
        defer { ThreadLocal.delivery = outer }
        var remaining = Self.budget
        var mustDispatch = false
        var batch = state.withLock { state in
            state.isDispatched = false
            return state.items.count
        }
        while batch > 0 {
            for _ in 0..<batch {
                // Take the items one at a time. An item's callback may run the main queue, and the main queue may then
                // call this function again.
                guard let item = state.withLock({ state in state.items.popFirst() }) else { break }
                remaining -= run(item)
            }
            batch = state.withLock { state in state.nextBatch(isSpent: remaining <= 0, &mustDispatch) }
        }
        if mustDispatch { dispatch() }
    }

    private func drainOne() {
        if let item = state.withLock({ state in state.items.popFirst() }) { _ = run(item) }
    }

    /// Makes the calls that one item of the list contains. Returns how many calls this item counts toward the limit
    /// ``budget``.
    private func run(_ item: Item) -> Int {
        switch item {
        case .received(let completion, let content): completion(content)
        case .sent(let completion, let failure): completion(failure)
        case .call(let body): body()
        case .calls(let body): return max(1, body())
        }
        return 1
    }
}

extension Delivery.State {
    /// Returns how many items the current block delivers next. Returns 0 if no items are left, or if another block
    /// delivers them.
    fileprivate mutating func nextBatch(isSpent: Bool, _ mustDispatch: inout Bool) -> Int {
        guard !items.isEmpty, !isDispatched else { return 0 }
        guard isSpent else { return items.count }
        isDispatched = true
        mustDispatch = true
        return 0
    }
}

extension EventLoop {
    /// Calls ``Delivery/dispatch()`` when the current event batch ends. Call this on the loop's thread only.
    package func dispatchAfterBatch(_ delivery: Delivery) { callAfterBatch { delivery.dispatchInBatch() } }
}
