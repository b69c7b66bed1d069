/// The timeouts of a server connection. All times are absolute, on the clock whose time the caller passes in.
struct HTTPServerTimes: Sendable {
    enum Phase: Sendable {
        /// The connection waits for a request.
        case idle
        /// The first part of a request head has arrived, but not all of it.
        case head
        case busy
    }

    /// The kind of timeout that has expired.
    enum Expiry: Sendable {
        /// The client does not accept the sent bytes.
        case output
        /// The client has stopped sending in the middle of a request.
        case input
        /// The client sends no request.
        case idle
    }

    private let headTime: Duration
    private let idleTime: Duration
    /// Enforces the minimum upload rate while the server waits for request content.
    private var input: ProgressWatch
    /// Enforces the minimum download rate while sent bytes wait until the client accepts them.
    private var output: ProgressWatch
    private var head: Duration?
    private var idle: Duration?
    /// Whether the transport still holds sent bytes that the client has not accepted yet.
    private var isSending = false

    init(_ limits: HTTPServerLimits, at now: Duration) {
        headTime = limits.headTime
        idleTime = limits.idleTime
        input = ProgressWatch(minimumRate: limits.minimumRate, allowance: limits.stallTime)
        output = input
        head = now + limits.headTime
    }

    /// The next time at which a timeout expires.
    var earliestDeadline: Duration? {
        var next = head
        for other in [idle, input.deadline, output.deadline] {
            if let other, other < next ?? .seconds(Int64.max / 2) { next = other }
        }
        return next
    }

    /// The time at which the connection began to wait for a request, or for the rest of a request's head. `nil` if the
    /// connection does not wait for either.
    var waitStart: Duration? {
        guard !isSending else { return nil }
        return head.map { $0 - headTime } ?? idle.map { $0 - idleTime }
    }

    /// Returns which timeout has expired.
    func expiry(at now: Duration) -> Expiry? {
        if hasPassed(output.deadline, now) { return .output }
        if hasPassed(head, now) || hasPassed(input.deadline, now) { return .input }
        return hasPassed(idle, now) ? .idle : nil
    }

    private func hasPassed(_ deadline: Duration?, _ now: Duration) -> Bool { deadline.map { now >= $0 } ?? false }

    // MARK: Events

    mutating func enter(_ phase: Phase, at now: Duration) {
        switch phase {
        // The time limit for the head of the first request runs from the start of the connection.
        case .idle: if idle == nil, head == nil { idle = now + idleTime }
        case .head:
            idle = nil
            if head == nil { head = now + headTime }
        case .busy:
            head = nil
            idle = nil
        }
    }

    /// Starts and stops the timeouts.
    ///
    /// - Parameters:
    ///   - awaitsContent: Whether the server waits for request content.
    ///   - isBlocked: Whether the client's flow-control windows block a response.
    mutating func settle(_ phase: Phase, awaitsContent: Bool, isBlocked: Bool, at now: Duration) {
        enter(phase, at: now)
        input.setWaiting(awaitsContent, at: now)
        output.setWaiting(isSending || isBlocked, at: now)
    }

    /// Records a request head.
    mutating func requested() {
        head = nil
        idle = nil
        input.restart()
    }

    /// Records that the client sent bytes.
    mutating func received(_ count: Int, at now: Duration) { input.moved(count, at: now) }

    /// Restarts the input timeout after it has expired. Without the restart, it would expire again at once.
    mutating func stalled() { input.restart() }

    /// Records that the transport has bytes which the client has not accepted.
    mutating func sending() { isSending = true }

    /// Records that the transport has accepted `count` bytes. Also records whether more bytes are pending in the
    /// transport.
    mutating func sent(_ count: Int, hasMore: Bool, at now: Duration) {
        isSending = hasMore
        output.moved(count, at: now)
    }
}
