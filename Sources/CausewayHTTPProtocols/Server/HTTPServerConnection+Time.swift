import CausewayProtocols

internal import CausewayWire

/// The timeouts of a server connection. All times are absolute, on the owner's clock.
struct HTTPServerTimes: Sendable {
    private let headTime: Duration
    private let idleTime: Duration
    /// Runs while the server waits for request content.
    var input: ProgressWatch
    /// Runs while the client has not accepted sent bytes.
    var output: ProgressWatch
    private(set) var head: Duration?
    private(set) var idle: Duration?

    init(_ limits: HTTPServerLimits, at now: Duration) {
        headTime = limits.headTime
        idleTime = limits.idleTime
        input = ProgressWatch(minimumRate: limits.minimumRate, allowance: limits.stallTime)
        output = input
        head = now + limits.headTime
    }

    enum Phase: Sendable {
        /// The connection waits for a request.
        case idle
        /// Part of a request head has arrived.
        case head
        case busy
    }

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

    /// The time since which the connection waits for a request or the rest of its head; `nil` if it does not wait.
    var waitStart: Duration? { head.map { $0 - headTime } ?? idle.map { $0 - idleTime } }

    mutating func requested() {
        head = nil
        idle = nil
        input.restart()
    }
}

extension HTTPServerConnection {
    /// The next time at which ``advance(to:)`` has work to do.
    package var deadline: Duration? {
        guard !hasEnded else { return nil }
        var next = times.head
        for other in [times.idle, times.input.deadline, times.output.deadline] {
            if let other, other < next ?? .seconds(Int64.max / 2) { next = other }
        }
        if let own = http2?.machine.deadline { next = min(next ?? own, own) }
        return next
    }

    /// The time since which the connection waits for a request or the rest of its head; `nil` if it does not wait. The
    /// owner may close such a connection to accept another client.
    package var waitStart: Duration? { hasEnded || isSending ? nil : times.waitStart }

    /// Records that the transport accepted bytes, and whether more are still pending there.
    package mutating func sent(_ count: Int, hasMore: Bool, at now: Duration) {
        isSending = hasMore
        times.output.moved(http2?.accepted(count) ?? count, at: now)
    }

    /// Records that the transport has bytes which the client has not accepted.
    package mutating func sending() { isSending = true }

    /// Starts and stops the timeouts. Call this after all other changes at a given time.
    package mutating func settle(at now: Duration) {
        guard !hasEnded else { return }
        if let phase = http1?.phase {
            times.enter(phase, at: now)
            times.input.setWaiting(http1?.awaitsContent == true, at: now)
            times.output.setWaiting(isSending, at: now)
        } else if let isIdle = http2?.requests.isEmpty {
            http2?.machine.settle(at: now)
            times.enter(isIdle ? .idle : .busy, at: now)
            times.input.setWaiting(http2?.awaitsContent == true, at: now)
            times.output.setWaiting(isSending || http2?.hasQueuedContent == true, at: now)
        } else {
            times.enter(undecided.isEmpty ? .idle : .head, at: now)
        }
    }

    /// Handles expired timeouts. Calling early, late or twice is harmless.
    package mutating func advance(to now: Duration) {
        guard !hasEnded else { return }
        http2?.machine.advance(to: now)
        if hasPassed(times.output.deadline, now) { return abort() }
        if hasPassed(times.head, now) || hasPassed(times.input.deadline, now) { return clientStalled() }
        guard hasPassed(times.idle, now) else { return }
        times.enter(.busy, at: now)
        shutDown(at: now)
    }

    private func hasPassed(_ deadline: Duration?, _ now: Duration) -> Bool { deadline.map { now >= $0 } ?? false }

    /// Ends a connection whose client does not send its request in time: status 408 (RFC 9110 §15.5.9), or GOAWAY with
    /// ENHANCE_YOUR_CALM.
    private mutating func clientStalled() {
        times.input.restart()
        if isUndecided { return end(isInterrupted: false) }
        http1?.machine.timedOut()
        abortHTTP2(.enhanceYourCalm)
    }
}

extension HTTP1Serving {
    /// The phase for the timeouts.
    var phase: HTTPServerTimes.Phase { isTunnel || !machine.awaitsHead ? .busy : machine.isIdle ? .idle : .head }

    /// Whether the server waits for content: the client may send it, and the program has consumed all it received.
    var awaitsContent: Bool { !isTunnel && unread == 0 && machine.awaitsContent }
}
