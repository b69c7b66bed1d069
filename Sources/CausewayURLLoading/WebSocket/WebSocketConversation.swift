internal import Causeway
internal import CausewayHTTP
internal import CausewayProtocols
internal import CausewayWire
internal import DequeModule
internal import Foundation

/// The state of a WebSocket task's messages and its connection (RFC 6455). Calls from the program and received bytes
/// come in; actions go out.
///
/// The task ends after ``Action/end(_:)``, or for another reason, such as a cancellation. In all cases,
/// ``WebSocketChannel`` calls ``stop()`` and ``end(_:)``. The connection can stay open a little longer, until the close
/// frames are exchanged.
struct WebSocketConversation: Sendable {
    typealias Message = URLSessionWebSocketTask.Message
    /// A completion handler of ``URLSessionWebSocketTask/send(_:)`` or of a ping.
    typealias SendHandler = @Sendable ((any Error)?) -> Void
    /// A completion handler of ``URLSessionWebSocketTask/receive()``.
    typealias MessageHandler = @Sendable (Result<Message, any Error>) -> Void

    enum Action: Sendable {
        /// Send bytes, and report the result with ``sent(_:_:)``.
        case send(Data)
        /// Receive bytes, at most the given number. Report the result with ``arrived(_:)``.
        case receive(Int)
        /// Call a completion handler that the program supplied.
        case call(@Sendable () -> Void)
        /// Report that the peer sent a close frame.
        case reportClosed(WebSocketCloseReport)
        /// End the task with this error. If the error is `nil`, the task succeeded.
        case end((any Error)?)
        /// Wait for ``closingTime``, and then call ``closingTimedOut()``.
        case limitClosing
        /// Close the connection. If `isInterrupted` is `true`, abort the connection instead.
        case disconnect(isInterrupted: Bool)
    }

    enum Phase: Sendable {
        /// The handshake is not complete.
        case connecting
        case open
        /// The program has closed the WebSocket. When the peer's close frame arrives, the task ends.
        case closing
        /// The task has ended or is about to end.
        case ended
    }

    /// The connection.
    struct Link: Sendable {
        var isUp = false
        var isReceiving = false
        /// Whether the task is suspended.
        var isPaused = false
        var error: NWError?
    }

    /// The maximum size of a received message in bytes, unless the program sets another.
    static let defaultMessageLimit = 1 << 20
    /// When this many received bytes are unread, the WebSocket reads no more bytes from the connection.
    static let unreadLimit = 64 << 10
    /// The maximum number of bytes that were passed to the network and are not yet processed. When it is reached, the
    /// next frame waits.
    static let outputLimit = 128 << 10
    /// The maximum size of one receive or send operation in bytes.
    static let pieceSize = 64 << 10
    /// The memory cost of a message in bytes, in addition to its content. This cost counts as unread bytes. Otherwise
    /// empty messages could fill the memory.
    static let messageCost = 64
    /// The time within which the peer must answer a close frame.
    static let closingTime = Duration.seconds(5)

    var phase = Phase.connecting
    var machine: WebSocketMachine
    var link = Link()
    var sending = Sending()
    var receiving = Receiving()
    /// The close code and reason; `nil` if the WebSocket is not closed.
    private(set) var closing: WebSocketCloseReport?
    /// The error for operations after the task has ended; `nil` before.
    private var refusal: (any Error)?
    var actions: [Action] = []

    /// - Parameter random: The source of masking keys. It must be unpredictable (RFC 6455 §5.3), except in tests.
    init(random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        var configuration = WebSocketMachine.Configuration()
        configuration.skipsHandshake = true
        configuration.repliesToPings = true
        configuration.maximumMessageSize = Self.defaultMessageLimit
        machine = WebSocketMachine(
            .client(UpgradeRequest(authority: "")), configuration: configuration, random: random)
    }

    // MARK: Calls of the program

    mutating func send(_ message: Message, _ handler: @escaping SendHandler) {
        guard !refuses({ handler($0) }) else { return }
        sending.waiting.append(Sending.Entry(item: .message(message), handler: handler))
        pump()
    }

    mutating func ping(_ handler: @escaping SendHandler) {
        guard !refuses({ handler($0) }) else { return }
        sending.lastPing += 1
        sending.pings[sending.lastPing] = handler
        sending.waiting.append(Sending.Entry(item: .ping(sending.lastPing), handler: nil))
        pump()
    }

    mutating func receive(_ handler: @escaping MessageHandler) {
        if let message = receiving.takeMessage() {
            actions.append(.call { handler(.success(message)) })
        } else if !refuses({ handler(.failure($0)) }) {
            receiving.handlers.append(handler)
        }
        pump()
    }

    mutating func limitMessages(to size: Int) { machine.limitMessages(to: size) }

    /// Starts to close the WebSocket. Messages that were queued earlier are sent first.
    ///
    /// Returns `false` if the WebSocket is not open. The caller must then end the task.
    mutating func close(_ report: WebSocketCloseReport) -> Bool {
        if closing == nil, phase != .ended { closing = report }
        guard phase == .open else { return phase == .closing }
        phase = .closing
        sending.waiting.append(Sending.Entry(item: .close(report.frame), handler: nil))
        actions.append(.limitClosing)
        pump()
        return true
    }

    /// Refuses an operation if the task has ended. In that case, passes the task's error to `body` and returns `true`.
    private mutating func refuses(_ body: @escaping @Sendable (any Error) -> Void) -> Bool {
        guard let refusal else { return false }
        actions.append(.call { body(refusal) })
        return true
    }

    // MARK: The task

    /// Starts to exchange messages: the handshake is complete.
    mutating func opened() {
        guard phase == .connecting else { return actions.append(.disconnect(isInterrupted: true)) }
        phase = .open
        link.isUp = true
        machine.started()
        pump()
    }

    /// Stops sending and receiving while the task is suspended.
    mutating func setPaused(_ isPaused: Bool) {
        link.isPaused = isPaused
        pump()
    }

    /// Closes the connection, because the task ends. If the WebSocket is open, the peer receives a close frame without
    /// a code.
    mutating func stop() {
        guard phase != .ended else { return }
        leaveOpen()
        receiving.removeMessages()
        machine.close(WebSocketClosing())
        pump()
    }

    /// Makes all current and later operations fail with the task's error. The program can still receive messages that
    /// have already arrived.
    mutating func end(_ error: (any Error)?) {
        guard refusal == nil else { return }
        let error = error ?? POSIXError(.ENOTCONN)
        refusal = error
        if phase == .connecting { phase = .ended }
        for handler in sending.takeHandlers() { actions.append(.call { handler(error) }) }
        for handler in receiving.takeHandlers() { actions.append(.call { handler(.failure(error)) }) }
    }

    /// Aborts the connection, because the peer has not answered the close frame in time.
    mutating func closingTimedOut() {
        guard phase != .open, link.isUp else { return }
        link.isUp = false
        actions.append(.disconnect(isInterrupted: true))
        endTask(LoadFailure(.cancelled))
    }

    // MARK: The end of the task

    /// Ends the task, unless it has ended or is about to end.
    mutating func endTask(_ error: (any Error)?) {
        guard phase != .ended else { return }
        let error = phase == .closing ? LoadFailure(.cancelled) : error
        leaveOpen()
        actions.append(.end(error))
    }

    private mutating func leaveOpen() {
        if phase == .open { actions.append(.limitClosing) }
        phase = .ended
    }

    /// Handles the peer's close frame.
    mutating func peerClosed(_ frame: WebSocketClosing) {
        guard phase != .ended else { return }
        let report = WebSocketCloseReport(frame)
        closing = closing ?? report
        actions.append(.reportClosed(report))
        endTask(nil)
    }

    /// Handles the end of the connection without a close handshake.
    mutating func failed(_ failure: WebSocketMachine.Failure) {
        guard phase != .ended else { return }
        switch failure {
        case .messageTooBig: endTask(POSIXError(.EMSGSIZE))
        case .protocolError(let text):
            endTask(POSIXError(.EPROTO, userInfo: [LoadFailure.reasonKey: "invalid frame: \(text)"]))
        case .invalidText:
            endTask(POSIXError(.EPROTO, userInfo: [LoadFailure.reasonKey: "a text message is not UTF-8"]))
        case .endedEarly, .endedUnclosed, .handshake, .aborted:
            closing = closing ?? WebSocketCloseReport(.abnormalClosure)
            endTask(LoadFailure(.connectionLost, underlying: link.error ?? NWError.posix(.ECONNRESET)))
        }
    }
}
