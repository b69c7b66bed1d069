import CausewayProtocols

internal import CausewayWire
internal import DequeModule

extension HTTP2Connection {
    /// Handles a RST_STREAM frame (RFC 9113 §6.4).
    mutating func receivedReset(
        _ id: HTTP2StreamID, _ code: HTTP2ErrorCode, at now: Duration
    ) throws(HTTP2Violation) {
        guard !isIdle(id) else { throw HTTP2Violation(.protocolError, "RST_STREAM frame on idle stream \(id)") }
        if endDraining(id) { return }
        // A client does not limit resets of its open streams, because its own program opened them.
        if role == .server || !streams.contains(id) { try chargeReset(at: now) }
        guard let stream = streams[id] else { return }
        // After a complete response, a server may reset the stream before the request is complete (RFC 9113 §8.1).
        let isComplete = role == .client && stream.receiving == .ended && code == .noError
        let failure: HTTP2StreamFailure? =
            isComplete ? nil : role == .client && code == .refusedStream ? .unprocessed : .reset(code)
        close(id, .byPeer, failure)
    }

    /// Handles a SETTINGS frame (RFC 9113 §6.5).
    mutating func receivedSettings(_ settings: [HTTP2Setting], at now: Duration) throws(HTTP2Violation) {
        let isFirst = phase == .firstSettings
        if isFirst { phase = .open } else { try chargeChore("SETTINGS frames", at: now) }
        var new = peer.settings
        for setting in settings {
            if role == .client, setting.identifier == .enablePush, setting.value != 0 {
                throw HTTP2Violation(.protocolError, "SETTINGS_ENABLE_PUSH of a server")
            }
            try new.apply(setting)
        }
        let difference = new.initialWindowSize - peer.settings.initialWindowSize
        peer.settings = new
        output.setHeaderTableSize(new.headerTableSize)
        if difference != 0 { try changeSendWindows(by: difference) }
        try reply(.settingsAcknowledgment)
        events.append(.settings(new))
        startWaiting()
    }

    private mutating func changeSendWindows(by difference: Int) throws(HTTP2Violation) {
        var overflows = false
        streams.updateAll { stream in
            guard !stream.isWaiting else { return }
            stream.sendWindow += difference
            overflows = overflows || stream.sendWindow > HTTP2Settings.largestWindow
        }
        guard !overflows else {
            throw HTTP2Violation(.flowControlError, "SETTINGS_INITIAL_WINDOW_SIZE overflows a window")
        }
        for id in streams.identifiers { reschedule(id) }
    }

    /// Applies the settings acknowledged by the peer (RFC 9113 §6.5.3).
    mutating func receivedSettingsAcknowledgment(at now: Duration) throws(HTTP2Violation) {
        guard let deadline = own.settingsDeadline.take() else {
            throw HTTP2Violation(.protocolError, "acknowledgment of settings that were not sent")
        }
        own.roundTrip = roundTrip(answeredAfter: now - (deadline - configuration.settingsTimeout))
        let settings = configuration.settings
        input.apply(settings)
        let difference = settings.initialWindowSize - own.initialWindowSize
        guard difference != 0 else { return }
        own.initialWindowSize = settings.initialWindowSize
        streams.updateAll { $0.receiveWindow.resize(by: difference) }
    }

    /// Returns the round-trip time. The transport's measurement is usually the most accurate, because an acknowledgment
    /// also waits for both programs. But a device that splits the transport, as on satellite links, hides the path
    /// between the device and the peer. The acknowledgment then takes much longer, and its time is used.
    private func roundTrip(answeredAfter time: Duration) -> Duration {
        guard let known = configuration.roundTrip, time - known < .milliseconds(100) else { return time }
        return min(time, known)
    }

    /// Handles a PING frame (RFC 9113 §6.7).
    mutating func receivedPing(_ data: UInt64, isAcknowledgment: Bool, at now: Duration) throws(HTTP2Violation) {
        guard isAcknowledgment else {
            try chargeChore("PING frames", at: now)
            return try reply(.ping(data, isAcknowledgment: true))
        }
        if data == HTTP2OwnState.shutdownPing, own.shutdownDeadline != nil { return finishShutdown() }
        guard let place = own.pings.firstIndex(of: data) else {
            return try chargeChore("answers to PING frames", at: now)
        }
        own.pings.remove(at: place)
        events.append(.pingAnswered(data))
    }

    /// Queues an acknowledgment. Throws if too many are queued because the peer does not read them.
    private mutating func reply(_ frame: HTTP2Frame) throws(HTTP2Violation) {
        output.reply(frame)
        guard output.replyCount <= HTTP2Output.maximumReplyCount else {
            throw HTTP2Violation(.enhanceYourCalm, "answers that are not read")
        }
    }

    /// Handles a GOAWAY frame (RFC 9113 §6.8).
    mutating func receivedGoAway(
        _ last: HTTP2StreamID, _ code: HTTP2ErrorCode, _ debugData: [UInt8]
    ) throws(HTTP2Violation) {
        if let earlier = peer.goAway, last > earlier.lastStreamID {
            throw HTTP2Violation(.protocolError, "GOAWAY frame with a higher stream identifier than before")
        }
        peer.goAway = (last, code, debugData)
        events.append(.goAway(code, lastStreamID: last, debugData: debugData))
        guard role == .client else { return endIfDone() }
        for id in own.takeWaiting() { close(id, .byReset, .unprocessed) }
        for id in streams.identifiers where id > last { close(id, .byReset, .unprocessed) }
        endIfDone()
    }

    /// Handles a WINDOW_UPDATE frame (RFC 9113 §6.9).
    mutating func receivedWindowUpdate(
        _ id: HTTP2StreamID, _ increment: Int, at now: Duration
    ) throws(HTTP2Violation) {
        try chargeChore("WINDOW_UPDATE frames", at: now)
        guard id != 0 else {
            output.window += increment
            guard output.window <= HTTP2Settings.largestWindow else {
                throw HTTP2Violation(.flowControlError, "window of the connection above 2^31-1")
            }
            return
        }
        guard !isIdle(id) else { throw HTTP2Violation(.protocolError, "WINDOW_UPDATE frame on idle stream \(id)") }
        let window = streams.update(id) { stream in
            stream.sendWindow += increment
            return stream.sendWindow
        }
        guard let window else { return }
        guard window <= HTTP2Settings.largestWindow else {
            return try failStream(HTTP2Violation(.flowControlError, stream: id, "window above 2^31-1"), at: now)
        }
        reschedule(id)
    }

    /// Handles a PRIORITY_UPDATE frame (RFC 9218 §7.1).
    mutating func receivedPriorityUpdate(
        _ id: HTTP2StreamID, _ value: ArraySlice<UInt8>, at now: Duration
    ) throws(HTTP2Violation) {
        guard role == .server else { throw HTTP2Violation(.protocolError, "PRIORITY_UPDATE frame of a server") }
        try chargeChore("PRIORITY_UPDATE frames", at: now)
        guard id % 2 == 1 else { throw HTTP2Violation(.protocolError, "priority of stream \(id)") }
        let priority = HTTPPriority(parsing: value)
        guard id > peer.lastStreamID else { return changePriority(id, priority) }
        peer.setEarlyPriority(priority, of: id)
        // Idle streams with a priority count like open ones. Before the acknowledgment, the client may not know the limit.
        guard own.settingsDeadline == nil, let limit = configuration.settings.maxConcurrentStreams else { return }
        guard streams.count + peer.earlyPriorityCount <= limit else {
            throw HTTP2Violation(.protocolError, "priorities of more than \(limit) streams")
        }
    }

    /// Changes a stream's priority and its position in the schedule.
    mutating func changePriority(_ id: HTTP2StreamID, _ priority: HTTPPriority) {
        guard let stream = streams[id], stream.priority != priority else { return }
        if stream.isScheduled { schedule.remove(id, stream.priority) }
        _ = streams.update(id) { stream in
            stream.priority = priority
            stream.isScheduled = false
        }
        reschedule(id)
    }
}
