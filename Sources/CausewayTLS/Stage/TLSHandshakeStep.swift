/// A step of a handshake that may take milliseconds, because the peer's certificates come with it: for a thread that nothing else waits for.
///
/// The stage does not touch its engine until ``TLSStage/stepEnded(_:)``.
package struct TLSHandshakeStep: Sendable {
    /// Weak, because the stage keeps the event with this until it is taken.
    private weak var home: TLSStageHome?
    private let piece: ArraySlice<UInt8>?

    init(_ home: TLSStageHome, _ piece: ArraySlice<UInt8>?) {
        self.home = home
        self.piece = piece
    }

    /// Takes the step. Once; any thread.
    package func run() -> TLSProgress {
        // Without a home the connection is over.
        guard let home else { return .needsCiphertext }
        return Self.take(home.engine, on: piece)
    }

    static func take(_ engine: any TLSEngine, on piece: ArraySlice<UInt8>?) -> TLSProgress {
        guard let piece else { return engine.handshake() }
        return piece.withUnsafeBytes { bytes in
            engine.ciphertextArrived(bytes) { engine.handshake() }
        }
    }
}
