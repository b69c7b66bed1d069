import CausewayProtocols

internal import CausewayWire

/// The deadlines of a server's connection.
struct HTTPServerTimes: Sendable {
    private let headTime: Duration
    private let idleTime: Duration
    /// The client sends content that the program waits for.
    var input: ProgressWatch
    /// The client reads what was sent to it.
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
        /// A part of a head has arrived.
        case head
        case busy
    }

    mutating func enter(_ phase: Phase, at now: Duration) {
        switch phase {
        // The time for the first head starts with the connection.
        case .idle: if idle == nil, head == nil { idle = now + idleTime }
        case .head:
            idle = nil
            if head == nil { head = now + headTime }
        case .busy:
            head = nil
            idle = nil
        }
    }

    /// The time since which the connection waits for a request or for the rest of its head; `nil` if it does not.
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

    /// The time since which the connection waits for a request, or for the rest of its head; `nil` if it does not. Such a connection may be
    /// closed to make room for another client.
    package var waitStart: Duration? { hasEnded || isSending ? nil : times.waitStart }

    /// Records that the transport has accepted bytes, and whether others still wait there.
    package mutating func sent(_ count: Int, hasMore: Bool, at now: Duration) {
        isSending = hasMore
        times.output.moved(count, at: now)
    }

    /// Records that the transport has bytes that the client has not accepted.
    package mutating func sending() { isSending = true }

    /// Starts and stops the timeouts. Call this after all other changes at one time.
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

    /// Ends the connection of a client that does not send its request in time (RFC 9110 §15.5.9).
    private mutating func clientStalled() {
        times.input.restart()
        if isUndecided { return end(isInterrupted: false) }
        http1?.machine.timedOut()
        http2?.machine.abort(.enhanceYourCalm)
    }
}

extension HTTP1Serving {
    /// The phase that determines the timeouts.
    var phase: HTTPServerTimes.Phase { isTunnel || !machine.awaitsHead ? .busy : machine.isIdle ? .idle : .head }

    /// Whether the server waits for content that the client may send.
    var awaitsContent: Bool { !isTunnel && unread == 0 && machine.awaitsContent }
}
