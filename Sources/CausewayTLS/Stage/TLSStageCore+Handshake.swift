extension TLSStageCore {
    mutating func start(at now: Duration) {
        retransmission.now = now
        guard phase == .idle, !isOver else { return }
        phase = .handshaking
        // OpenSSL allocates memory for a handshake. So a server does not begin its handshake until bytes from the peer
        // arrive.
        moveOn(stepping: !engine.waitsForPeer)
    }

    func sendEarly(_ bytes: [UInt8]) -> Bool {
        guard phase == .idle, !isOver else { return false }
        return bytes.withUnsafeBytes { engine.writeEarly($0) }
    }

    mutating func answer(_ body: (any TLSEngine) -> Void) {
        guard phase == .awaitingAnswer, !isOver else { return }
        phase = .handshaking
        body(engine)
        moveOn(stepping: true)
    }

    /// Processes the result of a handshake step that ran on a background thread. After this step, the stage uses the
    /// engine again.
    mutating func stepEnded(_ progress: TLSProgress) {
        guard phase == .awaitingStep else { return }
        phase = .handshaking
        guard !isOver else { return }
        shakeHands(after: progress)
        moveOn()
    }

    /// Continues the handshake and then reads, as long as ciphertext is waiting and the plaintext buffer has space.
    ///
    /// - Parameter isStepping: Whether to continue the handshake without new ciphertext.
    mutating func moveOn(stepping isStepping: Bool = false) {
        if phase == .handshaking { shakeHands(after: isStepping ? step(on: nil) : .needsCiphertext) }
        if phase == .established { read() }
        noteDeadline()
    }

    private mutating func shakeHands(after first: TLSProgress?) {
        var next = first
        while phase == .handshaking, let progress = next {
            switch progress {
            case .needsCiphertext:
                if let piece = pendingCiphertext.popPiece() {
                    next = step(on: piece)
                } else if notifyEngineOfEnd() {
                    next = engine.handshake()
                } else {
                    return
                }
            case .evaluateTrust(let trust): return ask(.evaluateTrust(trust))
            case .chooseIdentity(let challenge): return ask(.chooseIdentity(challenge))
            case .established:
                phase = .established
                if let negotiation = engine.negotiation { note(.established(negotiation)) }
            case .failed(let reason): return fail(reason)
            }
        }
    }

    /// Passes the received ciphertext to the engine, and runs one step of the handshake.
    ///
    /// - Returns: The new state. If the step runs on a background thread, `nil`.
    private mutating func step(on piece: ArraySlice<UInt8>?) -> TLSProgress? {
        guard let shared, engine.mayEvaluatePeer else { return TLSHandshakeStep.take(engine, on: piece) }
        note(.step(TLSHandshakeStep(shared, piece)))
        phase = .awaitingStep
        return nil
    }

    private mutating func ask(_ question: TLSEvent) {
        phase = .awaitingAnswer
        note(question)
    }

    /// Reports the end of the transport to the engine, after all ciphertext was passed in. Returns whether it was reported.
    mutating func notifyEngineOfEnd() -> Bool {
        guard pendingCiphertext.takeEnd() else { return false }
        engine.ciphertextEnded()
        return true
    }
}
