public import CausewayProtocols
public import CausewaySystem

/// A state behind a lock whose changes request actions, for example transport or observer calls.
///
/// The lock protects the state and the order of the actions. It is not held while an action runs, so an action can change the state again.
/// The types are `public` only because the compiler does not specialize `package` types across modules.
public protocol SequencedState {
    associatedtype Action: Sendable

    /// The requested actions, in order.
    var line: ActionLine<Action> { get set }

    /// Moves the actions that changes have requested to ``line``. Returns whether the caller must perform them.
    mutating func queueActions() -> Bool
}

extension LockedValue where Value: SequencedState {
    /// Changes the state under the lock, then performs the requested actions without it.
    ///
    /// One thread at a time performs actions. If another thread is performing them, or `perform` has called this function, the actions of
    /// this change wait for that thread, so that no action overtakes an earlier one and none recurses.
    @inlinable @discardableResult
    public borrowing func change<Result: Sendable>(
        _ body: (inout Value) -> Result, perform: (Value.Action) -> Void
    ) -> Result {
        // A batch needs the lock once.
        var batch: [Value.Action] = []
        var (result, mustPerform) = withLock { state in
            let result = body(&state)
            return (result, state.queueActions() && state.line.takeAll(into: &batch))
        }
        while mustPerform {
            while let action = batch.popLast() { perform(action) }
            mustPerform = withLock { state in state.line.takeAll(into: &batch) }
        }
        return result
    }
}
