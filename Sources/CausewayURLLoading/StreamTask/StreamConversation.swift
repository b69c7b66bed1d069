internal import Causeway
internal import DequeModule
internal import Foundation

/// The state of a stream task's operations and its connection. Its input is calls from the program and connection
/// events. Its output is actions.
///
/// Reads run in call order, and so do writes. One read and one write can run at the same time. Two operations run
/// alone: the start of TLS and the conversion to streams. They begin after all earlier operations, and later operations
/// begin after them. The task ends after ``Action/end(_:)``, or for another reason, such as a cancellation. In all
/// cases, ``StreamChannel`` calls ``end(_:)``.
struct StreamConversation: Sendable {
    enum Action: Sendable {
        /// Receive at most the given number of bytes, and report the result with ``arrived(_:at:)``.
        case receive(Int)
        /// Withdraw the pending receive operation, and report with ``recalled(_:at:)`` whether that succeeded.
        case recall
        /// Send bytes or the end of the stream. Report the result with ``sent(_:_:at:)``.
        case send(Data, isFinal: Bool)
        /// Start TLS, and report the end of the handshake with ``secured(_:at:)``. `unread` contains bytes that were
        /// received but not read.
        case secure(unread: Data, isAtEnd: Bool)
        /// Convert the connection to a pair of streams. `unread` contains bytes that were received but not read.
        case capture(unread: Data, isAtEnd: Bool)
        /// Call a program's completion handler.
        case call(@Sendable () -> Void)
        case reportReadClosed
        case reportWriteClosed
        /// The caller must call ``advance(to:)`` at this time.
        case wake(at: Duration)
        /// End the task. The value is the task's error; `nil` if the task succeeded.
        case end((any Error)?)
        case disconnect(isInterrupted: Bool)
    }

    enum Phase: Sendable {
        /// The connection is not established.
        case connecting
        case open
        /// The conversation is withdrawing its pending receive operation. After that, TLS starts, or the task becomes a
        /// pair of streams.
        case recalling
        /// The TLS handshake runs.
        case securing
        /// The task has ended or is about to end.
        case ended
    }

    /// The receiving side.
    struct Input: Sendable {
        /// The unread bytes.
        var buffer = Data()
        var isReceiving = false
        /// Whether the peer has ended its sending side.
        var isAtEnd = false
        /// Whether the program has closed the receiving side.
        var isClosed = false
        /// Whether a read has reported the end of the peer's data.
        var wasEndRead = false
        /// The error for all later reads.
        var failure: LoadFailure?

        /// Removes bytes from the buffer after the program has read them.
        mutating func removeFirst(_ count: Int) {
            buffer = buffer.dropFirst(count)
            // The slice keeps the memory of removed bytes until it is copied. Without a copy, this memory would grow as
            // long as the buffer never becomes empty. So copy the slice when it is not longer than the removed bytes.
            // On average, each byte is then copied once.
            if buffer.startIndex >= buffer.count { buffer = Data(buffer) }
        }
    }

    /// The state of the stream's sending side.
    struct Output: Sendable {
        var isSending = false
        var isClosed = false
        /// The error for all later writes.
        var failure: LoadFailure?
    }

    /// When this many received bytes are unread, no more bytes are read from the connection.
    static let unreadLimit = 64 << 10
    /// The maximum size of one receive operation in bytes.
    static let inputSize = 64 << 10
    /// The maximum size of one send operation in bytes.
    static let outputSize = 256 << 10

    var phase = Phase.connecting
    var input = Input()
    var output = Output()
    var batches: Deque<StreamBatch> = [StreamBatch()]
    /// Whether the task is suspended.
    var isPaused = true
    var isSecure = false
    private var lastNumber = 0
    /// The time limit for the TLS handshake.
    private var handshake: OperationLimit
    private var alarm: Duration?
    /// The task's error; set at its end.
    private var error: (any Error)?
    /// Whether both directions have ended. A later cancellation must then not abort the connection, because sent bytes
    /// can still be in transit.
    private var isComplete = false
    var actions: [Action] = []

    /// - Parameter handshakeLimit: The time limit for the TLS handshake in seconds; 0 for none.
    init(handshakeLimit: TimeInterval = 0) { handshake = OperationLimit(handshakeLimit) }

    // MARK: Calls of the program

    mutating func read(
        _ minimum: Int, _ maximum: Int, timeout: TimeInterval, _ handler: @escaping StreamRead.Handler, at now: Duration
    ) {
        guard phase != .ended else {
            return input.wasEndRead ? actions.append(.call { handler(nil, true, nil) }) : call(handler, error)
        }
        let maximum = max(maximum, 0)
        let kind = StreamRead.Kind.bytes(minimum: min(max(minimum, 1), maximum), maximum: maximum, handler)
        append(StreamRead(number: nextNumber(), kind: kind, limit: OperationLimit(timeout)), at: now)
    }

    mutating func write(
        _ content: Data, timeout: TimeInterval, _ handler: @escaping StreamWrite.Handler, at now: Duration
    ) {
        guard phase != .ended else { return call(handler, error) }
        append(
            StreamWrite(number: nextNumber(), kind: .bytes(content, handler), limit: OperationLimit(timeout)), at: now)
    }

    mutating func closeRead(at now: Duration) {
        guard phase != .ended else { return }
        append(StreamRead(number: nextNumber(), kind: .close, limit: OperationLimit(0)), at: now)
    }

    mutating func closeWrite(at now: Duration) {
        guard phase != .ended else { return }
        append(StreamWrite(number: nextNumber(), kind: .close, limit: OperationLimit(0)), at: now)
    }

    /// Starts TLS or converts the connection to streams, after all earlier operations.
    mutating func change(_ change: StreamBatch.Change, at now: Duration) {
        guard phase != .ended else { return }
        batches[batches.count - 1].change = change
        batches.append(StreamBatch())
        pump(at: now)
    }

    private mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    private mutating func append(_ read: StreamRead, at now: Duration) {
        batches[batches.count - 1].reads.append(read)
        pump(at: now)
    }

    private mutating func append(_ write: StreamWrite, at now: Duration) {
        batches[batches.count - 1].writes.append(write)
        pump(at: now)
    }

    mutating func call(_ handler: @escaping StreamRead.Handler, _ error: (any Error)?) {
        let error = error ?? LoadFailure(.cancelled).urlError(for: nil)
        actions.append(.call { handler(nil, false, error) })
    }

    mutating func call(_ handler: @escaping StreamWrite.Handler, _ error: (any Error)?) {
        let error = error ?? LoadFailure(.cancelled).urlError(for: nil)
        actions.append(.call { handler(error) })
    }

    // MARK: The task

    /// Reports that the connection is established.
    mutating func opened(at now: Duration) {
        guard phase == .connecting else { return }
        phase = .open
        pump(at: now)
    }

    mutating func setPaused(_ isPaused: Bool, at now: Duration) {
        guard phase != .ended, self.isPaused != isPaused else { return }
        self.isPaused = isPaused
        if isPaused { forLimits { $0.pause(at: now) } }
        pump(at: now)
    }

    /// Calls the handlers of all pending operations in call order, and then ends the connection. Called once, when the
    /// task ends.
    mutating func end(_ error: (any Error)?) {
        let reason = error ?? LoadFailure(.connectionLost, underlying: NWError.posix(.ENOTCONN)).urlError(for: nil)
        if self.error == nil { self.error = reason }
        var calls: [(number: Int, action: Action)] = []
        for batch in batches {
            for read in batch.reads {
                guard case .bytes(_, _, let handler) = read.kind else { continue }
                calls.append((read.number, .call { handler(nil, false, reason) }))
            }
            for write in batch.writes {
                guard case .bytes(_, let handler) = write.kind else { continue }
                calls.append((write.number, .call { handler(reason) }))
            }
        }
        batches = [StreamBatch()]
        actions += calls.sorted { $0.number < $1.number }.map(\.action)
        phase = .ended
        actions.append(.disconnect(isInterrupted: error != nil && !isComplete))
    }

    /// Ends the task with a failure, or with success if `failure` is `nil`.
    mutating func endTask(_ failure: LoadFailure?) {
        guard phase != .ended else { return }
        phase = .ended
        isComplete = failure == nil
        error = failure?.urlError(for: nil)
        actions.append(.end(failure))
    }

    // MARK: Time

    /// Fails the operations whose time limit has expired, and starts the time limits of the current operations.
    mutating func advance(to now: Duration) {
        if let alarm, alarm <= now { self.alarm = nil }
        pump(at: now)
    }

    /// Calls `body` with each time limit that is in effect: during a TLS handshake the handshake's limit, otherwise the
    /// limits of the first read and the first write.
    private mutating func forLimits(_ body: (inout OperationLimit) -> Void) {
        if phase == .securing { return body(&handshake) }
        if !batches[0].reads.isEmpty { body(&batches[0].reads[0].limit) }
        if !batches[0].writes.isEmpty { body(&batches[0].writes[0].limit) }
    }

    /// Starts the time limits of the current operations, and checks them.
    ///
    /// If a read has exceeded its limit, this read and all later reads fail. The same applies to writes. Otherwise
    /// bytes that arrive later could be mistaken for the answer to another operation.
    mutating func checkLimits(at now: Duration) {
        guard phase != .ended, !isPaused else { return }
        forLimits { $0.run(at: now) }
        if phase == .securing {
            if handshake.isOver(at: now) { endTask(LoadFailure(.timedOut, underlying: NWError.posix(.ETIMEDOUT))) }
            return
        }
        let failure = LoadFailure(.timedOut, underlying: NWError.posix(.ETIMEDOUT))
        if batches[0].reads.first?.limit.isOver(at: now) == true { input.failure = input.failure ?? failure }
        if batches[0].writes.first?.limit.isOver(at: now) == true { output.failure = output.failure ?? failure }
    }

    /// Requests a wake-up at the earliest deadline, unless a wake-up at an earlier time is already requested.
    mutating func setAlarm() {
        guard phase != .ended else { return }
        var earliest: Duration?
        forLimits { limit in
            if let deadline = limit.deadline { earliest = min(deadline, earliest ?? deadline) }
        }
        guard let earliest, alarm.map({ earliest < $0 }) ?? true else { return }
        alarm = earliest
        actions.append(.wake(at: earliest))
    }
}
