/// A handshake step that may take milliseconds because it validates the peer's certificates. Run it on a background thread.
///
/// The stage does not use its engine until ``TLSStage/stepEnded(_:)`` is called.
package struct TLSHandshakeStep: Sendable {
    /// The object that contains the stage's core. The reference is weak to avoid a cycle: the stage stores an event,
    /// and the event contains this step.
    private weak var shared: SharedTLSStage?
    private let piece: ArraySlice<UInt8>?

    init(_ shared: SharedTLSStage, _ piece: ArraySlice<UInt8>?) {
        self.shared = shared
        self.piece = piece
    }

    /// Runs the step. Call once, on any thread.
    package func run() -> TLSProgress {
        // If the stage has been deallocated, its connection no longer exists, so there is no handshake to continue.
        guard let shared else { return .needsCiphertext }
        return Self.take(shared.engine, on: piece)
    }

    static func take(_ engine: any TLSEngine, on piece: ArraySlice<UInt8>?) -> TLSProgress {
        guard let piece else { return engine.handshake() }
        return piece.withUnsafeBytes { bytes in
            engine.ciphertextArrived(bytes) { engine.handshake() }
        }
    }
}
