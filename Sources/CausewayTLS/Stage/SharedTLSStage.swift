/// Holds the core shared by a stage and its copies.
///
/// Access is through a pointer, which avoids the runtime's exclusivity checks. The owner's lock guarantees exclusive access.
// SAFETY: only one thread at a time uses the engine. The stack calls the stage while the stack's owner holds a lock.
// The only other user is a handshake step on a background thread; while it runs, the core does not use the engine
// (`TLSStageCore.Phase.awaitingStep`).
final class SharedTLSStage: @unchecked Sendable {
    let core: UnsafeMutablePointer<TLSStageCore>
    let engine: any TLSEngine

    init(_ engine: any TLSEngine, usesDatagrams: Bool, stepsElsewhere: Bool) {
        self.engine = engine
        core = .allocate(capacity: 1)
        core.initialize(to: TLSStageCore(engine, usesDatagrams: usesDatagrams, shared: stepsElsewhere ? self : nil))
    }

    deinit {
        core.deinitialize(count: 1)
        core.deallocate()
    }
}
