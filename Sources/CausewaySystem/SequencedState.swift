/// A state that a lock protects. A change of the state requests actions, such as calls to a transport or an observer.
///
/// The lock protects the state and the actions' order. It is not held while an action runs, so an action can change the
/// state again. The types are `public` only because the compiler does not specialize `package` types across modules.
public protocol SequencedState: ~Copyable {
    associatedtype Action: Sendable

    /// The requested actions, in order.
    var line: ActionLine<Action> { get set }

    /// Moves the newly requested actions to ``line``. Returns whether the caller must perform them.
    mutating func queueActions() -> Bool
}

extension LockedValue where Value: SequencedState & ~Copyable {
    /// Changes the state under the lock, then performs the requested actions without it.
    ///
    /// One thread at a time performs actions. If another thread is performing actions, that thread also performs this
    /// change's actions, after the earlier actions. If `perform` called this function, this change's actions follow
    /// when `perform` returns.
    @inlinable @discardableResult
    public borrowing func change<Result: Sendable>(
        _ body: (inout Value) -> Result, perform: (Value.Action) -> Void
    ) -> Result {
        // Take the actions in batches: each batch needs the lock only once.
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
