/// The timeouts of a server connection. All times are absolute, on the clock whose time the caller passes in.
struct HTTPServerTimes: Sendable {
    enum Phase: Sendable {
        /// The connection waits for a request.
        case idle
        /// Part of a request head has arrived.
        case head
        case busy
    }

    /// A timeout that has expired.
    enum Expiry: Sendable {
        /// The client does not accept the sent bytes.
        case output
        /// The client does not send the rest of its request.
        case input
        /// The client sends no request.
        case idle
    }

    private let headTime: Duration
    private let idleTime: Duration
    /// Enforces the minimum rate while the server waits for request content.
    private var input: ProgressWatch
    /// Enforces the minimum rate while the client has not accepted sent bytes.
    private var output: ProgressWatch
    private var head: Duration?
    private var idle: Duration?
    /// Whether the transport has bytes which the client has not accepted.
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

    /// The time at which the connection began to wait for a request or for the rest of its head; `nil` if it does not
    /// wait.
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
        // For the first request, the head timeout runs from the start of the connection.
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

    /// Restarts the input timeout after it has expired, so that it does not expire again at once.
    mutating func stalled() { input.restart() }

    /// Records that the transport has bytes which the client has not accepted.
    mutating func sending() { isSending = true }

    /// Records that the transport accepted bytes, and whether more are still pending there.
    mutating func sent(_ count: Int, hasMore: Bool, at now: Duration) {
        isSending = hasMore
        output.moved(count, at: now)
    }
}
