/// Holds the core shared by a stage and its copies.
///
/// Access is through a pointer, which avoids the runtime's exclusivity checks. The owner's lock guarantees exclusive access.
// SAFETY: an engine is used by one thread at a time. Access is through the stage and the stack, whose owner holds a lock during each call,
// or by the single step that runs elsewhere, during which the core does not use the engine
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
