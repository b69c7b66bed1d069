/// An ordered queue for actions. Only one thread at a time performs them.
///
/// The order matters: for example, "close" must not be performed before an earlier "open". If no other thread is
/// performing actions, the thread that adds an action must perform actions until the queue is empty; all other threads
/// only add to the queue. The queue has no lock: the lock of the state machine that requests the actions protects the
/// queue too.
///
/// The type is `public` only because the compiler does not specialize `package` types across modules.
@frozen public struct ActionLine<Action: Sendable>: Sendable {
    /// The added actions. In most state machines, all actions have been performed before `add` is called again. The
    /// queue is then empty, and `add` stores its argument without a copy.
    @usableFromInline var actions: [Action] = []
    /// The number of actions already removed from the front.
    @usableFromInline var position: Int32 = 0
    @usableFromInline var isPerforming = false
    @usableFromInline let keepsStorage: Bool

    /// Creates an empty queue.
    ///
    /// - Parameter keepsStorage: Whether the queue keeps its storage while it is empty, for state machines that are
    ///   seldom idle.
    @inlinable public init(keepsStorage: Bool = false) { self.keepsStorage = keepsStorage }

    /// Adds actions to the queue. Returns `true` if the caller must now perform the queued actions.
    @inlinable public mutating func add(_ added: [Action]) -> Bool {
        if actions.isEmpty { actions = added } else { actions.append(contentsOf: added) }
        return beginsPerforming()
    }

    /// Moves all actions in `added` to the queue. Returns whether the caller must perform them.
    ///
    /// If the queue is empty, the queue and `added` exchange their storage, so that no storage is released.
    @inlinable public mutating func move(_ added: inout [Action]) -> Bool {
        if actions.isEmpty {
            swap(&actions, &added)
        } else {
            actions.append(contentsOf: added)
            added.removeAll(keepingCapacity: true)
        }
        return beginsPerforming()
    }

    /// Moves all actions to `batch`, in reverse order, so that the caller can take each next action from the end of
    /// `batch`. Returns `false` if there are no actions; the caller must then stop.
    ///
    /// The lock is needed only once for a whole batch, and no actions are copied. If there are no actions, a queue that
    /// keeps its storage takes over the storage of `batch`.
    ///
    /// - Precondition: `batch` is empty.
    @inlinable public mutating func takeAll(into batch: inout [Action]) -> Bool {
        if position > 0 {
            actions.removeFirst(Int(position))
            position = 0
        }
        let hasActions = !actions.isEmpty
        if hasActions || keepsStorage { swap(&actions, &batch) }
        if hasActions { batch.reverse() } else { isPerforming = false }
        return hasActions
    }

    @inlinable mutating func beginsPerforming() -> Bool {
        guard !isPerforming, !actions.isEmpty else { return false }
        isPerforming = true
        return true
    }

    /// Removes and returns the next action. Returns `nil` if there is none. The caller must then stop performing
    /// actions.
    @inlinable public mutating func next() -> Action? {
        guard Int(position) < actions.count else {
            isPerforming = false
            // Most state machines are idle after their first actions. So release the storage, unless the queue must
            // keep it.
            if keepsStorage { actions.removeAll(keepingCapacity: true) } else { actions = [] }
            position = 0
            return nil
        }
        defer { position += 1 }
        return actions[Int(position)]
    }
}
