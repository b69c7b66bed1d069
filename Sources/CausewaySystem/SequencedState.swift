/// A state that a lock protects. A change of the state requests actions, such as calls to a transport or an observer.
///
/// The lock protects the state and the order of the actions. The lock is not held while an action runs, so the action
/// can change the state again. The types are `public` only because the compiler does not specialize `package` types
/// across modules.
public protocol SequencedState: ~Copyable {
    associatedtype Action: Sendable

    /// The queue of actions that were requested.
    var line: ActionLine<Action> { get set }

    /// Moves the actions that were requested since the last call to ``line``. Returns whether the caller must perform
    /// them.
    mutating func queueActions() -> Bool
}

extension LockedValue where Value: SequencedState & ~Copyable {
    /// Changes the state under the lock. Then performs the requested actions without the lock.
    ///
    /// Only one thread at a time performs actions. If another thread is performing actions, that thread also performs
    /// the actions of this change, after all earlier actions. If `perform` itself calls this function, the actions of
    /// this change follow when `perform` returns.
    @inlinable @discardableResult
    public borrowing func change<Result: Sendable>(
        _ body: (inout Value) -> Result, perform: (Value.Action) -> Void
    ) -> Result {
        // Take the actions in batches, so that each batch needs the lock only once.
        var batch: [Value.Action] = []
        var (result, mustPerform) = withLock { state -> (Result, Bool) in
            let result = body(&state)
            guard state.queueActions() else { return (result, false) }
            return (result, state.line.takeAll(into: &batch))
        }
        while mustPerform {
            while let action = batch.popLast() { perform(action) }
            mustPerform = withLock { state in state.line.takeAll(into: &batch) }
        }
        return result
    }
}
