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

    /// What the handshake waits for.
    enum Awaited {
        case peer
        /// The owner was asked something.
        case answer
        /// A step of the handshake runs elsewhere, and with it the engine: nothing here may touch it before the step has ended.
        case step
    }

    static var limit: Int { TLSStage.bufferLimit }
    /// Messages that wait to be read, however small they are.
    static let maximumMessages = 256
    /// Plaintext of the longest record.
    static let record = 16 << 10

    let engine: any TLSEngine
    let usesDatagrams: Bool
    /// Who runs the steps that take long: the owner, told by ``TLSEvent/step(_:)``, if there is a home to run them in.
    weak var home: TLSStageHome?
    var phase = Phase.idle
    var events: [TLSEvent] = []
    private let keyLines = KeyLines()
    var awaited = Awaited.peer
    var failure: TLSFailure?
    var abortion: Failure?
    /// Whether there is one of them. They are large to look at, and this is asked all the time.
    private(set) var hasFailed = false

    /// Ciphertext that the engine was not shown: a stream, or datagrams.
    var arrears = ByteChain()
    var datagrams = MessageChunkQueue()
    /// The beginning of a datagram that comes in several chunks.
    var datagramSoFar = ByteChain()
    var hasTransportEnded = false
    var wasEngineTold = false
    /// Plaintext for above: a stream, or messages.
    var plaintext = ByteChain()
    var messages = MessageChunkQueue()
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

    /// - Parameter home: Where steps that take long are run; `nil` to run them at once.
    init(_ engine: any TLSEngine, usesDatagrams: Bool, home: TLSStageHome?) {
        self.engine = engine
        self.home = home
        self.usesDatagrams = usesDatagrams
        // The engine calls while it is called, when all else here is in use.
        engine.keyLog = { [keyLines] in keyLines.waiting = keyLines.waiting + [$0] }
    }

    // MARK: State

    var hasPlaintext: Bool { !plaintext.isEmpty || !messages.isEmpty }

    // What is looked at where it lies is `mutating`: otherwise all of this would be copied first.

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

    /// What happens goes behind the lines that came before it.
    mutating func note(_ event: TLSEvent) {
        noteKeyLines()
        events.append(event)
    }

    /// A step that runs elsewhere may be telling some.
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

    var wakeUp: Duration? {
        mutating get {
            guard usesDatagrams, !isOver, awaited == .peer, phase != .idle else { return nil }
            return deadline
        }
    }

    /// The engine counts down by a clock of its own: asked again and again, it would name another moment each time.
    mutating func noteDeadline() {
        guard awaited != .step else { return }
        deadline = usesDatagrams ? engine.timeout.map { now + $0 } : nil
    }

    mutating func advance(to now: Duration) {
        self.now = max(self.now, now)
        guard usesDatagrams, !isOver, phase != .idle, awaited == .peer else { return }
        guard let timeout = engine.timeout, timeout <= .zero else { return noteDeadline() }
        if case .failed(let reason) = engine.timeoutElapsed() { return fail(reason) }
        moveOn(stepping: true)
    }
}

/// Lines for a file of keys that the engine has told and nobody has taken.
private final class KeyLines {
    var waiting: [String] = []
}
