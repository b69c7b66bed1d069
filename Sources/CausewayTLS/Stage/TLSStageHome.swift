/// The one core of a stage and its copies.
///
/// It is reached by its address: whether two use it at once, which the runtime would look into at each use, the owner's lock decides.
// SAFETY: an engine is for one thread at a time. It is reached through the stage, and the stage through the stack, whose owner holds a lock
// around each call; or by the one step that runs elsewhere, during which the core leaves the engine alone (`TLSStageCore.Awaited.step`).
final class TLSStageHome: @unchecked Sendable {
    let core: UnsafeMutablePointer<TLSStageCore>
    let engine: any TLSEngine

    init(_ engine: any TLSEngine, usesDatagrams: Bool, stepsElsewhere: Bool) {
        self.engine = engine
        core = .allocate(capacity: 1)
        core.initialize(to: TLSStageCore(engine, usesDatagrams: usesDatagrams, home: stepsElsewhere ? self : nil))
    }

    deinit {
        core.deinitialize(count: 1)
        core.deallocate()
    }
}
