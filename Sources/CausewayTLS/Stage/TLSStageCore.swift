internal import CausewayProtocols
internal import CausewayTypes

/// The TLS engine and the queues of a ``TLSStage``.
///
/// Received bytes are decrypted immediately while there is capacity. They are decrypted directly from the transport's
/// buffer into an array for the stage above. So the core detects a close, alerts and tickets even if the program does
/// not read.
///
/// Datagrams to send are encrypted immediately. So are borrowed bytes if no other bytes wait before them. Other content
/// is encrypted when the stage below requests it.
struct TLSStageCore {
    enum Phase {
        case idle
        /// The handshake waits for the peer.
        case handshaking
        /// The handshake waits until the peer's certificates are validated, or until a local identity is chosen.
        case awaitingAnswer
        /// A handshake step runs on a background thread. Until the step has ended, the core must not use the TLS
        /// engine.
        case awaitingStep
        case established

        var status: StageStatus {
            switch self {
            case .idle: .idle
            case .handshaking, .awaitingAnswer, .awaitingStep: .opening
            case .established: .ready
            }
        }
    }

    /// The connection's state: open, failed or aborted. The enum is `indirect` because the failures are large and this
    /// value is checked often.
    indirect enum Outcome {
        case open
        case failed(TLSFailure)
        /// The stage's owner has aborted the connection. `after` is the failure that happened before the abort, if
        /// there was one.
        case aborted(Failure, after: TLSFailure?)
    }

    static var limit: Int { TLSStage.bufferLimit }
    /// The maximum plaintext size of a record in bytes.
    static let record = 16 << 10

    let engine: any TLSEngine
    let usesDatagrams: Bool
    /// The shared object that contains this core. Through it, the stage's owner runs slow parts of the handshake on a
    /// background thread; see ``TLSEvent/step(_:)``. If it is `nil`, the core runs these parts at once.
    weak var shared: SharedTLSStage?
    var phase = Phase.idle
    private(set) var outcome = Outcome.open
    /// Whether the stage's owner has called ``close(at:)``.
    var isClosing = false
    var events = TLSEventQueue()
    var pendingCiphertext: CiphertextQueue
    var plaintext: PlaintextQueue
    var outbound = OutboundContent()
    var retransmission = RetransmissionTimer()

    /// Creates the core.
    ///
    /// - Parameters:
    ///   - engine: The engine, used exclusively by this core.
    ///   - usesDatagrams: Whether the engine uses DTLS.
    ///   - shared: The object that contains this core, if slow handshake steps run on a background thread; `nil` to run
    ///     these steps at once.
    init(_ engine: any TLSEngine, usesDatagrams: Bool, shared: SharedTLSStage?) {
        self.engine = engine
        self.shared = shared
        self.usesDatagrams = usesDatagrams
        pendingCiphertext = CiphertextQueue(usesDatagrams: usesDatagrams)
        plaintext = PlaintextQueue(usesDatagrams: usesDatagrams)
        engine.keyLog = events.keyLog
    }

    // MARK: State

    /// Whether the core has failed or was aborted.
    @inline(__always) var hasFailed: Bool {
        if case .open = outcome { false } else { true }
    }

    var isAborted: Bool {
        if case .aborted = outcome { true } else { false }
    }

    var failure: TLSFailure? {
        switch outcome {
        case .open: nil
        case .failed(let failure): failure
        case .aborted(_, let failure): failure
        }
    }

    // The getters are `mutating`, so that they read the core in place. Otherwise Swift would copy the whole core.

    var pendingFlags: StagePendingFlags {
        mutating get {
            guard !hasFailed, !usesDatagrams, outbound.isOpen else {
                if case .failed = status { return StagePendingFlags(hasFailed: true) }
                return StagePendingFlags(hasFailed: false)
            }
            let isStepRunning = phase == .awaitingStep
            return StagePendingFlags(
                hasFailed: false, mayHaveEvent: !events.isEmpty || !isStepRunning && events.hasKeyLines,
                mayHaveInbound: !plaintext.isEmpty || plaintext.isClosed,
                mayHaveOutbound: !outbound.isEmpty || !isStepRunning && engine.unsentCount > 0,
                mayHaveWakeUp: false)
        }
    }

    var status: StageStatus {
        mutating get { currentStatus }
    }

    private var currentStatus: StageStatus {
        guard hasFailed || isClosing else { return phase.status }
        switch outcome {
        case .open: break
        case .aborted(let reason, _): return .failed(reason)
        case .failed(let reason):
            // First deliver the content that was received before the failure. Report the failure only when no such
            // content is left.
            if plaintext.isEmpty { return .failed(reason.failure) }
        }
        return isClosing && isFlushed ? .closed : phase.status
    }

    /// Whether all bytes that must precede the status ``StageStatus/closed`` have been sent.
    @inline(__always) private var isFlushed: Bool {
        if hasFailed { return engine.unsentCount == 0 }
        if phase != .established { return true }
        return outbound.isComplete && engine.unsentCount == 0
    }

    /// Whether TLS on this connection has ended. Nothing more is received or sent, except bytes that the engine still
    /// holds for sending.
    @inline(__always) var isOver: Bool { hasFailed || isClosing && isFlushed }

    var awaitsPeer: Bool {
        mutating get { phase == .handshaking && !isOver }
    }

    var negotiation: TLSNegotiation? { phase == .awaitingStep ? nil : engine.negotiation }

    func exportSecret(label: String, context: [UInt8]?, count: Int) -> [UInt8]? {
        phase == .awaitingStep ? nil : engine.exportSecret(label: label, context: context, count: count)
    }

    mutating func nextEvent() -> TLSEvent? {
        if phase != .awaitingStep { events.collectKeyLines() }
        return events.popFirst()
    }

    /// Adds an event to the queue. Before it, adds the key log lines that were written earlier.
    mutating func note(_ event: TLSEvent) {
        if phase != .awaitingStep { events.collectKeyLines() }
        events.append(event)
    }

    mutating func fail(_ reason: TLSFailure) {
        guard !hasFailed else { return }
        outcome = .failed(reason)
        note(.failed(reason))
        outbound.removeAll()
        pendingCiphertext.removeAll()
    }

    mutating func abort(_ reason: Failure) {
        guard !isAborted else { return }
        outcome = .aborted(reason, after: failure)
        outbound.removeAll()
        plaintext.removeAll()
        pendingCiphertext.removeAll()
    }

    // MARK: Time

    var deadline: Duration? {
        mutating get {
            guard usesDatagrams, !isOver else { return nil }
            switch phase {
            case .handshaking, .established: return retransmission.deadline
            case .idle, .awaitingAnswer, .awaitingStep: return nil
            }
        }
    }

    /// Updates the time of the next retransmission. Called after each use of the TLS engine.
    mutating func noteDeadline() {
        guard usesDatagrams, phase != .awaitingStep else { return }
        retransmission.set(after: engine.timeout)
    }

    mutating func advance(to now: Duration) {
        retransmission.now = max(retransmission.now, now)
        guard usesDatagrams, !isOver, phase == .handshaking || phase == .established else { return }
        guard let timeout = engine.timeout, timeout <= .zero else { return noteDeadline() }
        if case .failed(let reason) = engine.timeoutElapsed() { return fail(reason) }
        moveOn(stepping: true)
    }
}
