internal import CausewayProtocols
internal import CausewayTypes

/// A ``TLSStage``'s engine and queues.
///
/// Received bytes are decrypted immediately while there is capacity, directly from the transport's buffer into the
/// piece for the stage above. This detects closures, alerts and tickets even if the program does not read. Content is
/// encrypted when the stage below requests it.
struct TLSStageCore {
    enum Phase {
        case idle, handshaking, established

        var status: StageStatus {
            switch self {
            case .idle: .idle
            case .handshaking: .opening
            case .established: .ready
            }
        }
    }

    /// The event that the handshake waits for.
    enum Awaited {
        case peer
        /// The owner's validation result or identity.
        case answer
        /// A background handshake step. The core must not use the engine until the step has ended.
        case step
    }

    static var limit: Int { TLSStage.bufferLimit }
    /// The maximum number of unread messages, regardless of their size.
    static let maximumMessages = 256
    /// The maximum plaintext size of a record in bytes.
    static let record = 16 << 10

    let engine: any TLSEngine
    let usesDatagrams: Bool
    /// The shared object that contains this core. The owner runs slow steps through it, see ``TLSEvent/step(_:)``;
    /// `nil` to run slow steps immediately.
    weak var home: TLSStageHome?
    var phase = Phase.idle
    var events: [TLSEvent] = []
    private let keyLines = KeyLines()
    var awaited = Awaited.peer
    var failure: TLSFailure?
    var abortion: Failure?
    /// Whether the core has failed or was aborted. This flag is cheaper to check than the large optional values, and it
    /// is checked often.
    private(set) var hasFailed = false

    /// Ciphertext not yet passed to the engine: a stream, or datagrams.
    var arrears = ByteChain()
    var datagrams = MessageChunkQueue()
    /// The first part of a datagram that arrives in several chunks.
    var datagramSoFar = ByteChain()
    var hasTransportEnded = false
    var wasEngineTold = false
    /// Plaintext for the stage above: a stream, or messages.
    var plaintext = ByteChain()
    var messages = MessageChunkQueue()
    var hasPeerClosed = false
    var wasEndDelivered = false

    /// Plaintext to encrypt: first `outgoingPiece`, then `outgoing`.
    var outgoing = ByteChain()
    var outgoingPiece: ArraySlice<UInt8> = []
    /// Whether the stage above has sent its last content.
    var isFinishing = false
    var isClosing = false
    var wasClosureSent = false
    var wasEndPassed = false

    /// The time passed to the last call.
    var now: Duration = .zero
    /// The time of the engine's next retransmission.
    private var retransmissionTime: Duration?

    /// Creates the core.
    ///
    /// - Parameters:
    ///   - engine: The engine, used exclusively by this core.
    ///   - usesDatagrams: Whether the engine uses DTLS.
    ///   - home: The shared object that contains this core, for slow steps; `nil` to run slow steps immediately.
    init(_ engine: any TLSEngine, usesDatagrams: Bool, home: TLSStageHome?) {
        self.engine = engine
        self.home = home
        self.usesDatagrams = usesDatagrams
        // The engine calls this closure during another call, when the core is in exclusive use, so store the lines separately.
        engine.keyLog = { [keyLines] in keyLines.waiting = keyLines.waiting + [$0] }
    }

    // MARK: State

    var hasPlaintext: Bool { !plaintext.isEmpty || !messages.isEmpty }

    // Getters are `mutating` to read in place; otherwise Swift copies the whole core.

    var pendingFlags: StagePendingFlags {
        mutating get {
            guard !hasFailed, !usesDatagrams, !isFinishing, !isClosing else {
                if case .failed = status { return StagePendingFlags(hasFailed: true) }
                return StagePendingFlags(hasFailed: false)
            }
            return StagePendingFlags(
                hasFailed: false, mayHaveEvent: !events.isEmpty || hasKeyLines,
                mayHaveInbound: !plaintext.isEmpty || hasPeerClosed,
                mayHaveOutbound: !outgoing.isEmpty || !outgoingPiece.isEmpty
                    || awaited != .step && engine.unsentCount > 0,
                mayHaveWakeUp: false)
        }
    }

    var status: StageStatus {
        mutating get { currentStatus }
    }

    private var currentStatus: StageStatus {
        guard hasFailed || isClosing else { return phase.status }
        if let abortion { return .failed(abortion) }
        // Deliver content received before a failure first.
        if let failure, !hasPlaintext { return .failed(failure.failure) }
        if isClosing, hasSaidEverything { return .closed }
        return phase.status
    }

    @inline(__always) private var hasSaidEverything: Bool {
        if failure != nil { return engine.unsentCount == 0 }
        if phase != .established { return true }
        return wasClosureSent && engine.unsentCount == 0 && (!isFinishing || wasEndPassed)
    }

    /// Whether the connection is over: nothing is received or sent, except bytes that the engine still has to send.
    @inline(__always) var isOver: Bool { hasFailed || isClosing && hasSaidEverything }

    var awaitsPeer: Bool {
        mutating get { phase == .handshaking && awaited == .peer && !isOver }
    }

    var negotiation: TLSNegotiation? { awaited == .step ? nil : engine.negotiation }

    func exportSecret(label: String, context: [UInt8]?, count: Int) -> [UInt8]? {
        awaited == .step ? nil : engine.exportSecret(label: label, context: context, count: count)
    }

    mutating func nextEvent() -> TLSEvent? {
        if hasKeyLines { noteKeyLines() }
        return events.isEmpty ? nil : events.removeFirst()
    }

    /// Adds an event after the key log lines that preceded it.
    mutating func note(_ event: TLSEvent) {
        noteKeyLines()
        events.append(event)
    }

    /// Whether there are key log lines to report. `false` while a step runs on a background thread, because the step may be adding lines.
    private var hasKeyLines: Bool { awaited != .step && !keyLines.waiting.isEmpty }

    private mutating func noteKeyLines() {
        guard awaited != .step else { return }
        for line in keyLines.waiting { events.append(.keyLog(line)) }
        keyLines.waiting = []
    }

    mutating func fail(_ reason: TLSFailure) {
        guard failure == nil else { return }
        (failure, hasFailed) = (reason, true)
        note(.failed(reason))
        outgoing = ByteChain()
        outgoingPiece = []
        dropArrears()
    }

    private mutating func dropArrears() {
        arrears = ByteChain()
        datagrams.removeAll()
        datagramSoFar = ByteChain()
    }

    mutating func abort(_ reason: Failure) {
        guard abortion == nil else { return }
        (abortion, hasFailed) = (reason, true)
        outgoing = ByteChain()
        outgoingPiece = []
        plaintext = ByteChain()
        messages.removeAll()
        dropArrears()
    }

    // MARK: Time

    var deadline: Duration? {
        mutating get {
            guard usesDatagrams, !isOver, awaited == .peer, phase != .idle else { return nil }
            return retransmissionTime
        }
    }

    /// Stores the next retransmission time. The engine computes its timeout from its own clock, so reading the timeout
    /// again later would give a different time.
    mutating func noteDeadline() {
        guard awaited != .step else { return }
        retransmissionTime = usesDatagrams ? engine.timeout.map { now + $0 } : nil
    }

    mutating func advance(to now: Duration) {
        self.now = max(self.now, now)
        guard usesDatagrams, !isOver, phase != .idle, awaited == .peer else { return }
        guard let timeout = engine.timeout, timeout <= .zero else { return noteDeadline() }
        if case .failed(let reason) = engine.timeoutElapsed() { return fail(reason) }
        moveOn(stepping: true)
    }
}

/// Key log lines not yet reported.
private final class KeyLines {
    var waiting: [String] = []
}
