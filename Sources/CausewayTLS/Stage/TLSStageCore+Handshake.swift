internal import CausewayProtocols

extension TLSStageCore {
    mutating func start(at now: Duration) {
        self.now = now
        guard phase == .idle, !isOver else { return }
        phase = .handshaking
        // The library takes memory for a handshake: a server does not begin before its peer has said something.
        moveOn(stepping: !engine.waitsForPeer)
    }

    func sendEarly(_ bytes: [UInt8]) -> Bool {
        guard phase == .idle, !isOver else { return false }
        return bytes.withUnsafeBytes { engine.writeEarly($0) }
    }

    mutating func answer(_ body: (any TLSEngine) -> Void) {
        guard awaited == .answer, !isOver else { return }
        awaited = .peer
        body(engine)
        moveOn(stepping: true)
    }

    /// A step that ran elsewhere has ended: the engine is here again.
    mutating func stepEnded(_ progress: TLSProgress) {
        guard awaited == .step else { return }
        awaited = .peer
        guard !isOver else { return }
        shakeHands(after: progress)
        moveOn()
    }

    /// Goes on with the handshake, then with reading, as far as there is ciphertext and room.
    ///
    /// - Parameter isStepping: Whether the handshake may go on without more ciphertext.
    mutating func moveOn(stepping isStepping: Bool = false) {
        if phase == .handshaking, awaited == .peer { shakeHands(after: isStepping ? step(on: nil) : .needsCiphertext) }
        if phase == .established { read() }
        noteDeadline()
    }

    private mutating func shakeHands(after first: TLSProgress?) {
        var next = first
        while phase == .handshaking, let progress = next {
            switch progress {
            case .needsCiphertext:
                if let piece = nextPiece() {
                    next = step(on: piece)
                } else if tellEnd() {
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

    /// Takes one step of the handshake with the ciphertext that arrived.
    ///
    /// - Returns: How far that led; `nil` when the step runs elsewhere.
    private mutating func step(on piece: ArraySlice<UInt8>?) -> TLSProgress? {
        guard let home, engine.mayJudgePeer else { return TLSHandshakeStep.take(engine, on: piece) }
        note(.step(TLSHandshakeStep(home, piece)))
        awaited = .step
        return nil
    }

    private mutating func ask(_ question: TLSEvent) {
        awaited = .answer
        note(question)
    }

    /// The next ciphertext to show the engine; of datagrams, one.
    mutating func nextPiece() -> ArraySlice<UInt8>? {
        guard usesDatagrams else { return arrears.isEmpty ? nil : arrears.popPiece(atMost: Self.limit) }
        return datagrams.pop().map { $0.bytes.bytes[...] }
    }

    /// Passes on that the transport has ended, once the engine was shown everything. Returns whether it did.
    mutating func tellEnd() -> Bool {
        guard hasTransportEnded, !wasEngineTold else { return false }
        wasEngineTold = true
        engine.ciphertextEnded()
        return true
    }
}
