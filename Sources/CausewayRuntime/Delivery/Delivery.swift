internal import CausewaySystem
package import CausewayTypes
package import Dispatch

/// Calls the program's code on one queue, in order, with one dispatch for all that one batch of events brings.
///
/// Items go to the end of a list; a dispatched block drains it. What the drained items themselves add is drained in the same
/// block, up to a budget, after which the queue's other work gets its turn.
package final class Delivery: Sendable {
    package enum Item: Sendable {
        case received(ReceiveCompletion, ReceivedContent)
        case sent(SendCompletion, Failure?)
        case call(@Sendable () -> Void)
        /// Calls that the closure makes itself. It returns how many.
        case calls(@Sendable () -> Int)
    }

    fileprivate struct State {
        let items = Ring<Item>()
        /// A block that will drain the list is queued, or promised at the end of an event batch.
        var isDispatched = false
        /// On a concurrent queue: items for which no block is queued yet.
        var undispatched = 0
    }

    /// Items that one block drains before it lets the queue's other work pass.
    private static let budget = 256

    package let queue: DispatchQueue
    /// A block per item: on a concurrent queue the program may wait, inside one callback, for another.
    private let isConcurrent: Bool
    private let state = LockedValue(State())

    init(_ queue: DispatchQueue) {
        self.queue = queue
        isConcurrent = Self.isGlobal(queue)
    }

    /// Calls one closure after the other.
    var isSerial: Bool { !isConcurrent }

    /// Dispatch does not tell whether a queue is concurrent, but its global queues have well-known labels.
    static func isGlobal(_ queue: DispatchQueue) -> Bool { queue.label.hasPrefix("com.apple.root.") }

    /// Where the answers of a flow go that has no queue of the program's.
    static let fallback = Delivery(.global())

    // MARK: Adding

    /// Adds an item. Returns whether the caller must call ``dispatch()`` once it holds no lock.
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

    /// Whether the caller is code that this delivery is calling.
    package var isDraining: Bool { ThreadLocal.delivery == Unmanaged.passUnretained(self).toOpaque() }

    package func dispatch() {
        guard isConcurrent else { return queue.async { self.drain() } }
        let count = state.withLock { state in
            defer { state.undispatched = 0 }
            return state.undispatched
        }
        for _ in 0..<count { queue.async { self.drainOne() } }
    }

    /// The same, on an event loop's thread at the end of the batch in hand.
    func dispatch(behindBatchOf loop: any EventLoop) {
        if loop.isCurrent { loop.dispatchAfterBatch(self) } else { dispatch() }
    }

    /// Adds an item and dispatches, from a place that holds no lock.
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
                // One by one: the program may run its main queue within a callback, and so this function within itself.
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

    /// Returns what it takes from the budget.
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
    /// How many items the block in hand drains next: none if another block will.
    fileprivate mutating func nextBatch(isSpent: Bool, _ mustDispatch: inout Bool) -> Int {
        guard !items.isEmpty, !isDispatched else { return 0 }
        guard isSpent else { return items.count }
        isDispatched = true
        mustDispatch = true
        return 0
    }
}

extension EventLoop {
    /// Dispatches `delivery` at the end of the batch of events in hand. Only on the loop's thread.
    package func dispatchAfterBatch(_ delivery: Delivery) { callAfterBatch { delivery.dispatch() } }
}
