/// Holds the ``TLSStageCore`` that a stage and its copies share.
///
/// Access is through a pointer, which avoids the runtime's exclusivity checks. Access is exclusive, because the owner
/// of the protocol stack holds a lock.
// SAFETY: only one thread at a time uses the engine. The protocol stack calls the stage under the owner's lock. A part
// of the handshake runs without that lock, on a background thread. While it runs, the core does not use the engine
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
