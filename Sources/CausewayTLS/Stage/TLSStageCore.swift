internal import CausewayProtocols
internal import CausewayTypes

/// The engine of a ``TLSStage`` and what waits on either side of it.
///
/// What arrives is decrypted at once as far as there is room, straight from the piece that the transport read into the piece that
/// goes up: so closures, alerts and tickets are noticed although nobody reads. What is to be sent is encrypted when it is taken.
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

    static var limit: Int { TLSStage.bufferLimit }
    /// Messages that wait to be read, however small they are.
    static let mostMessages = 256
    /// Plaintext of the longest record.
    static let record = 16 << 10

    let engine: any TLSEngine
    let usesDatagrams: Bool
    var phase = Phase.idle
    var events: [TLSEvent] = []
    private let keyLines = KeyLines()
    /// Whether a question is open.
    var isAsking = false
    var failure: TLSFailure?
    var abortion: Failure?
    /// Whether there is one of them. They are large to look at, and this is asked all the time.
    private(set) var hasFailed = false

    /// Ciphertext that the engine was not shown: a stream, or datagrams.
    var arrears = ByteChain()
    var datagrams = ParcelQueue()
    /// The beginning of a datagram that comes in several parcels.
    var datagramSoFar = ByteChain()
    var hasTransportEnded = false
    var wasEngineTold = false
    /// Plaintext for above: a stream, or messages.
    var plaintext = ByteChain()
    var messages = ParcelQueue()
    var hasPeerClosed = false
    var wasEndDelivered = false

    /// Plaintext to encrypt, of which `outgoingPiece` comes first.
    var outgoing = ByteChain()
    var outgoingPiece: ArraySlice<UInt8> = []
    /// Above has said that nothing follows.
    var isFinishing = false
    var isClosing = false
    var wasClosureSent = false
    var wasEndPassed = false

    /// The last time that was told.
    var now: Duration = .zero
    /// When the engine repeats what was not answered.
    private var deadline: Duration?

    init(_ engine: any TLSEngine, usesDatagrams: Bool) {
        self.engine = engine
        self.usesDatagrams = usesDatagrams
        // The engine calls while it is called, when all else here is in use.
        engine.keyLog = { [keyLines] in keyLines.waiting = keyLines.waiting + [$0] }
    }

    // MARK: State

    var hasPlaintext: Bool { !plaintext.isEmpty || !messages.isEmpty }

    // What is looked at where it lies is `mutating`: otherwise all of this would be copied first.

    var glance: StageGlance {
        mutating get {
            guard !hasFailed, !usesDatagrams, !isFinishing, !isClosing else {
                if case .failed = status { return StageGlance(hasFailed: true) }
                return StageGlance(hasFailed: false)
            }
            return StageGlance(
                hasFailed: false, mayHaveEvent: !events.isEmpty || !keyLines.waiting.isEmpty,
                mayHaveInbound: !plaintext.isEmpty || hasPeerClosed,
                mayHaveOutbound: !outgoing.isEmpty || !outgoingPiece.isEmpty || engine.unsentCount > 0,
                mayHaveWakeUp: false)
        }
    }

    var status: StageStatus {
        mutating get { currentStatus }
    }

    private var currentStatus: StageStatus {
        guard hasFailed || isClosing else { return phase.status }
        if let abortion { return .failed(abortion) }
        // What came before a failure is delivered first.
        if let failure, !hasPlaintext { return .failed(failure.failure) }
        if isClosing, hasSaidEverything { return .closed }
        return phase.status
    }

    @inline(__always) private var hasSaidEverything: Bool {
        if failure != nil { return engine.unsentCount == 0 }
        if phase != .established { return true }
        return wasClosureSent && engine.unsentCount == 0 && (!isFinishing || wasEndPassed)
    }

    /// Nothing goes in or out any more, but for what the engine has left to send.
    @inline(__always) var isOver: Bool { hasFailed || isClosing && hasSaidEverything }

    var awaitsPeer: Bool {
        mutating get { phase == .handshaking && !isAsking && !isOver }
    }

    var negotiation: TLSNegotiation? { engine.negotiation }

    func exportSecret(label: String, context: [UInt8]?, count: Int) -> [UInt8]? {
        engine.exportSecret(label: label, context: context, count: count)
    }

    mutating func nextEvent() -> TLSEvent? {
        if !keyLines.waiting.isEmpty { noteKeyLines() }
        return events.isEmpty ? nil : events.removeFirst()
    }

    /// What happens goes behind the lines that came before it.
    mutating func note(_ event: TLSEvent) {
        noteKeyLines()
        events.append(event)
    }

    private mutating func noteKeyLines() {
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

    // MARK: Handshake

    mutating func start(at now: Duration) {
        self.now = now
        guard phase == .idle, !isOver else { return }
        phase = .handshaking
        moveOn()
    }

    func sendEarly(_ octets: [UInt8]) -> Bool {
        guard phase == .idle, !isOver else { return false }
        return octets.withUnsafeBytes { engine.writeEarly($0) }
    }

    mutating func answer(_ body: (any TLSEngine) -> Void) {
        guard isAsking, !isOver else { return }
        isAsking = false
        body(engine)
        moveOn()
    }

    /// Goes on with the handshake, then with reading, as far as there is ciphertext and room.
    mutating func moveOn() {
        if phase == .handshaking, !isAsking { shakeHands() }
        if phase == .established { read() }
        noteDeadline()
    }

    private mutating func shakeHands() {
        var progress = engine.handshake()
        while phase == .handshaking {
            switch progress {
            case .needsCiphertext:
                if let piece = nextPiece() {
                    progress = piece.withUnsafeBytes { bytes in
                        engine.ciphertextArrived(bytes) { engine.handshake() }
                    }
                } else if tellEnd() {
                    progress = engine.handshake()
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

    private mutating func ask(_ question: TLSEvent) {
        isAsking = true
        note(question)
    }

    /// The next ciphertext to show the engine; of datagrams, one.
    mutating func nextPiece() -> ArraySlice<UInt8>? {
        guard usesDatagrams else { return arrears.isEmpty ? nil : arrears.popPiece(atMost: Self.limit) }
        return datagrams.pop().map { $0.octets.octets[...] }
    }

    /// Passes on that the transport has ended, once the engine was shown everything. Returns whether it did.
    mutating func tellEnd() -> Bool {
        guard hasTransportEnded, !wasEngineTold else { return false }
        wasEngineTold = true
        engine.ciphertextEnded()
        return true
    }

    // MARK: Time

    var wakeUp: Duration? {
        mutating get {
            guard usesDatagrams, !isOver, !isAsking, phase != .idle else { return nil }
            return deadline
        }
    }

    /// The engine counts down by a clock of its own: asked again and again, it would name another moment each time.
    private mutating func noteDeadline() {
        deadline = usesDatagrams ? engine.timeout.map { now + $0 } : nil
    }

    mutating func advance(to now: Duration) {
        self.now = max(self.now, now)
        guard usesDatagrams, !isOver, phase != .idle, !isAsking else { return }
        guard let timeout = engine.timeout, timeout <= .zero else { return noteDeadline() }
        if case .failed(let reason) = engine.timeoutElapsed() { return fail(reason) }
        moveOn()
    }
}

/// Lines for a file of keys that the engine has told and nobody has taken.
private final class KeyLines {
    var waiting: [String] = []
}

/// The one core of a stage and its copies.
///
/// It is reached by its address: whether two use it at once, which the runtime would look into at each use, the owner's lock decides.
// SAFETY: an engine is for one thread at a time. It is reached through the stage alone, and the stage through the stack, whose
// owner holds a lock around each call.
final class TLSStageHome: @unchecked Sendable {
    let core: UnsafeMutablePointer<TLSStageCore>

    init(_ engine: any TLSEngine, usesDatagrams: Bool) {
        core = .allocate(capacity: 1)
        core.initialize(to: TLSStageCore(engine, usesDatagrams: usesDatagrams))
    }

    deinit {
        core.deinitialize(count: 1)
        core.deallocate()
    }
}
