internal import CausewayProtocols
internal import CausewayTLS
internal import CausewayTypes
internal import FoundationEssentials

/// The state machine for TLS over a byte stream. Its events are the calls of ``SecureByteStream``, and the results of
/// sends and receives on the stream that carries the TLS records.
struct SecureMachine: Sendable {
    typealias Reader = @Sendable (ByteArrival) -> Void
    typealias Writer = @Sendable (NWError?) -> Void

    enum Action: Sendable {
        /// Pass an event from TLS to the delegate. For example, the event may ask whether a certificate chain is
        /// trusted.
        case attend(TLSEvent)
        /// Receive at most this number of bytes from the stream below, and report the result with ``SecureMachine/arrived(_:at:)``.
        case receive(Int)
        /// Send bytes to the stream below, and report the result with ``SecureMachine/sent(_:at:)``.
        case send(Data, isFinal: Bool)
        /// Report that the handshake has ended. The associated error is `nil` if it succeeded.
        case opened(NWError?)
        case deliver(Reader, ByteArrival)
        case written(Writer, NWError?)
        /// Close the stream below TLS.
        case close(isInterrupted: Bool)
    }

    private enum Phase {
        case idle, opening, open, closing, closed
    }

    /// The maximum size of one receive or send, in bytes.
    private static let pieceSize = 64 << 10

    private var stage: TLSStage
    private var phase = Phase.idle
    private var isReceiving = false
    private var isSending = false
    private var hasInputEnded = false
    private var reader: (limit: Int, completion: Reader)?
    private var writer: Writer?
    /// The error of the stream below. It causes a TLS failure, and is reported instead of that failure.
    private var transportError: NWError?
    private(set) var actions: [Action] = []

    init(_ stage: TLSStage) { self.stage = stage }

    /// Removes and returns the actions to perform.
    mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    // MARK: Calls from above

    mutating func start(at now: Duration) {
        guard phase == .idle else { return }
        phase = .opening
        stage.start(at: now)
        pump()
    }

    mutating func receive(atMost limit: Int, _ completion: @escaping Reader) {
        guard phase == .open, reader == nil else {
            return actions.append(.deliver(completion, ByteArrival(error: failure ?? .posix(.ENOTCONN))))
        }
        reader = (max(1, limit), completion)
        pump()
    }

    mutating func send(_ content: Data, isFinal: Bool, _ completion: @escaping Writer, at now: Duration) {
        guard phase == .open, writer == nil else {
            return actions.append(.written(completion, failure ?? .posix(.ENOTCONN)))
        }
        writer = completion
        let chunk = MessageChunk([UInt8](content), endsMessage: isFinal, isFinal: isFinal)
        guard stage.send(chunk, at: now) else { return endWriting(failure ?? .posix(.EPIPE)) }
        pump()
    }

    /// Sends close_notify and closes the stream below. If `isInterrupted` is `true`, aborts the stream below instead.
    mutating func close(isInterrupted: Bool, at now: Duration) {
        guard phase != .closed, phase != .closing else { return }
        let wasOpen = phase == .open
        phase = .closing
        reader = nil
        guard wasOpen, !isInterrupted, failure == nil else { return finishClosing(isInterrupted: isInterrupted) }
        stage.close(at: now)
        pump()
    }

    /// Aborts the stream that carries the TLS records, if close_notify could not be sent in time. This happens when the
    /// peer does not read.
    mutating func closingTimedOut() {
        if phase == .closing { finishClosing(isInterrupted: true) }
    }

    /// Calls `body` with the TLS stage. In `body`, the stage receives the program's decision, such as trust in the
    /// peer, or the result of a handshake step.
    mutating func withStage<Result>(_ body: (inout TLSStage) -> Result) -> Result {
        let result = body(&stage)
        pump()
        return result
    }

    // MARK: Results from below

    mutating func arrived(_ arrival: ByteArrival, at now: Duration) {
        isReceiving = false
        if !arrival.content.isEmpty {
            stage.receive(MessageChunk([UInt8](arrival.content), endsMessage: false), at: now)
        }
        if let error = arrival.error { transportError = transportError ?? error }
        if arrival.isEnd || arrival.error != nil, !hasInputEnded {
            hasInputEnded = true
            stage.receive(.end, at: now)
        }
        pump()
    }

    mutating func sent(_ error: NWError?, at now: Duration) {
        isSending = false
        if let error {
            transportError = transportError ?? error
            endWriting(error)
            // Do not abort TLS while a receive operation is pending on the lower stream. The operation can still
            // deliver bytes that arrived before the send failed. After those bytes, it reports the end of the lower
            // stream.
            if !isReceiving { stage.abort(.init(error)) }
        }
        pump()
    }

    // MARK: Progress

    private var failure: NWError? {
        let stage = stage
        guard case .failed(let failure) = stage.status else { return nil }
        return transportError ?? failure.networkError
    }

    private mutating func pump() {
        guard phase != .idle, phase != .closed else { return }
        handleEvents()
        flush()
        deliver()
        if let failure { fail(failure) }
        receiveMore()
        if phase == .closing, !isSending { finishClosing(isInterrupted: false) }
    }

    private mutating func handleEvents() {
        while let event = stage.nextEvent() as? TLSEvent {
            actions.append(.attend(event))
            guard case .established = event, phase == .opening else { continue }
            phase = .open
            actions.append(.opened(nil))
        }
    }

    private mutating func flush() {
        guard !isSending else { return }
        if transportError == nil, let chunk = stage.nextOutbound(atMost: Self.pieceSize) {
            isSending = true
            // An empty chunk ends the sending direction.
            return actions.append(.send(Data(chunk.bytes.bytes), isFinal: chunk.isFinal))
        }
        if phase != .opening { endWriting(nil) }
    }

    private mutating func endWriting(_ error: NWError?) {
        if let writer = writer.take() { actions.append(.written(writer, error)) }
    }

    private mutating func deliver() {
        guard phase == .open, let (limit, completion) = reader, let chunk = stage.nextInbound(atMost: limit) else {
            return
        }
        reader = nil
        actions.append(.deliver(completion, ByteArrival(Data(chunk.bytes.bytes), isEnd: chunk.isFinal)))
    }

    private mutating func fail(_ error: NWError) {
        if phase == .opening {
            phase = .open
            actions.append(.opened(error))
        }
        if let (_, completion) = reader.take() { actions.append(.deliver(completion, ByteArrival(error: error))) }
        endWriting(error)
    }

    private mutating func receiveMore() {
        guard phase == .opening || phase == .open, !isReceiving, !hasInputEnded, failure == nil else { return }
        let room = stage.inboundRoom
        guard room > 0 else { return }
        isReceiving = true
        actions.append(.receive(min(room, Self.pieceSize)))
    }

    private mutating func finishClosing(isInterrupted: Bool) {
        phase = .closed
        endWriting(.posix(.ECANCELED))
        actions.append(.close(isInterrupted: isInterrupted))
    }
}
