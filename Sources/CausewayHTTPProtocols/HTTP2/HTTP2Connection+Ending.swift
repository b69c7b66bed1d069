import CausewayProtocols
package import CausewayWire

extension HTTP2Connection {
    /// The next time at which ``advance(to:)`` has work to do.
    package var deadline: Duration? {
        guard phase != .ended else { return nil }
        var next = streams.draining.firstDeadline
        if let settings = own.settingsDeadline { next = min(next ?? settings, settings) }
        if let shutdown = own.shutdownDeadline { next = min(next ?? shutdown, shutdown) }
        return next
    }

    /// Handles expired timeouts. Calling early, late or twice is harmless.
    package mutating func advance(to now: Duration) {
        guard phase != .ended else { return }
        if let deadline = own.settingsDeadline, now >= deadline {
            return fail(HTTP2Violation(.settingsTimeout, "settings without an acknowledgment"))
        }
        resetDrained(at: now)
        if let deadline = own.shutdownDeadline, now >= deadline { finishShutdown() }
    }

    /// Records that the peer closed its side of the byte stream (RFC 9113 §5.4.3).
    package mutating func inputEnded() {
        guard phase != .ended else { return }
        if let goAway = peer.goAway, goAway.code != .noError {
            return end(.goAway(goAway.code, debugData: goAway.debugData))
        }
        let isClean = streams.isEmpty && phase == .open && input.isComplete
        end(isClean ? nil : .endedEarly)
    }

    /// Shuts down gracefully: the connection accepts no new streams, and ends when all open streams are closed (RFC 9113 §6.8).
    ///
    /// A server first sends GOAWAY with the largest stream identifier. When the requests in flight have arrived, it
    /// sends GOAWAY with the actual last stream identifier.
    package mutating func shutDown(at now: Duration) {
        guard phase != .ended, own.goAway == nil else { return }
        if role == .server, phase == .open {
            own.goAway = .largestStream
            own.shutdownDeadline = now + configuration.settingsTimeout
            output.append(.goAway(lastStreamID: .largestStream, .noError))
            output.append(.ping(HTTP2OwnState.shutdownPing))
        } else {
            finishAccepting()
        }
    }

    /// Accepts no further streams, and ends the connection when all open streams are closed. A client can retry
    /// requests that it sent in the meantime (RFC 9113 §6.8).
    package mutating func finishAccepting() {
        guard phase != .ended, own.goAway == nil else { return }
        own.goAway = peer.lastStreamID
        output.append(.goAway(lastStreamID: peer.lastStreamID, .noError))
        endIfDone()
    }

    /// Sends the final GOAWAY frame in a graceful shutdown, with the actual last stream identifier.
    mutating func finishShutdown() {
        guard own.shutdownDeadline.take() != nil else { return }
        own.goAway = peer.lastStreamID
        output.append(.goAway(lastStreamID: peer.lastStreamID, .noError))
        endIfDone()
    }

    /// The last stream identifier for a GOAWAY frame. It never exceeds an earlier frame's value, although the peer may
    /// have opened further streams, which were ignored (RFC 9113 §6.8).
    private var lastProcessedStreamID: HTTP2StreamID { min(own.goAway ?? .largestStream, peer.lastStreamID) }

    /// Ends the connection at once, with a GOAWAY frame. Open streams fail.
    package mutating func abort(_ code: HTTP2ErrorCode = .noError) {
        guard phase != .ended else { return }
        output.append(.goAway(lastStreamID: lastProcessedStreamID, code))
        end(.aborted)
    }

    /// Ends the connection after a connection error (RFC 9113 §5.4.1).
    mutating func fail(_ violation: HTTP2Violation) {
        guard phase != .ended else { return }
        let reason = Array(violation.reason.utf8)
        output.append(.goAway(lastStreamID: lastProcessedStreamID, violation.code, debugData: reason[...]))
        end(.violation(violation))
    }

    /// Resets a stream after a stream error (RFC 9113 §5.4.2).
    mutating func failStream(_ violation: HTTP2Violation, at now: Duration) throws(HTTP2Violation) {
        guard case .stream(let id) = violation.scope else { throw violation }
        try chargeReset(at: now)
        guard streams.contains(id) else { return }
        output.append(.resetStream(violation.code), on: id)
        close(id, .byReset, .violation(violation))
    }

    /// Records the end of the peer's message.
    mutating func endReceiving(_ id: HTTP2StreamID) {
        _ = streams.update(id) { $0.receiving = .ended }
        endIfClosed(id)
    }

    /// Records the end of this side's message.
    mutating func endSending(_ id: HTTP2StreamID) {
        _ = streams.update(id) { $0.sending = .ended }
        endIfClosed(id)
    }

    /// Closes a stream whose messages are both complete.
    mutating func endIfClosed(_ id: HTTP2StreamID) {
        if streams[id]?.isClosed == true { close(id, .byPeer, nil) }
    }

    /// Closes a stream and reports it. Every stream reported to the program ends here, except those still open when the
    /// connection ends.
    mutating func close(_ id: HTTP2StreamID, _ closing: HTTP2StreamTable.Closing, _ failure: HTTP2StreamFailure?) {
        guard let stream = streams.close(id, closing) else { return }
        if stream.isScheduled { schedule.remove(id, stream.priority) }
        events.append(.closed(id, failure))
        startWaiting()
        endIfDone()
    }

    /// Ends the connection if it is shutting down and its last stream has closed.
    mutating func endIfDone() {
        guard phase != .ended, streams.isEmpty, streams.draining.isEmpty, own.shutdownDeadline == nil else { return }
        if own.goAway != nil { return end(nil) }
        guard let goAway = peer.goAway else { return }
        output.append(.goAway(lastStreamID: peer.lastStreamID, .noError))
        end(goAway.code == .noError ? nil : .goAway(goAway.code, debugData: goAway.debugData))
    }

    /// Enters the final state and queues the last events. Every end of the connection comes here.
    private mutating func end(_ failure: HTTP2ConnectionFailure?) {
        guard phase != .ended else { return }
        phase = .ended
        for id in own.takeWaiting() where streams.close(id, .byReset) != nil {
            events.append(.closed(id, .unprocessed))
        }
        for id in streams.identifiers {
            streams.close(id, .byReset)
            events.append(.closed(id, .connectionEnded))
        }
        streams.draining.removeAll()
        schedule.removeAll()
        input.discard()
        events.append(.ended(failure))
    }
}
