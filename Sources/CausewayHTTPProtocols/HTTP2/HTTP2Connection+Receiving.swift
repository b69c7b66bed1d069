package import CausewayProtocols

internal import CausewayWire

extension HTTP2Connection {
    /// Decodes received bytes. This may add events and output.
    package mutating func received(_ bytes: ArraySlice<UInt8>, at now: Duration) {
        guard phase != .ended else { return }
        do {
            let rest = try matchPreface(bytes)
            input.append(rest)
            while phase != .ended, let item = try nextItem(at: now) { try handle(item, at: now) }
        } catch {
            fail(error)
        }
    }

    /// Decodes received bytes. This may add events and output.
    package mutating func received(_ bytes: ByteChain, at now: Duration) {
        var bytes = bytes
        while let piece = bytes.popPiece() { received(piece, at: now) }
    }

    /// Returns the next item from the frame reader, and handles the reader's stream errors.
    private mutating func nextItem(at now: Duration) throws(HTTP2Violation) -> HTTP2FrameReader.Item? {
        while true {
            do {
                return try input.next()
            } catch {
                try handleReaderError(error, at: now)
            }
        }
    }

    /// Handles a frame with an invalid payload. A stream error becomes a connection error if the stream is idle or if
    /// another frame was required, such as SETTINGS or CONTINUATION.
    private mutating func handleReaderError(_ violation: HTTP2Violation, at now: Duration) throws(HTTP2Violation) {
        guard case .stream(let id) = violation.scope, phase == .open, !input.isInsideBlock else {
            throw HTTP2Violation(violation.code, violation.reason)
        }
        guard !isIdle(id) else { throw HTTP2Violation(violation.code, violation.reason) }
        try failStream(violation, at: now)
    }

    /// Compares a client's first bytes with the preface (RFC 9113 §3.4). Returns the bytes after it.
    private mutating func matchPreface(_ bytes: ArraySlice<UInt8>) throws(HTTP2Violation) -> ArraySlice<UInt8> {
        guard case .preface(let matched) = phase else { return bytes }
        let part = bytes.prefix(Self.preface.count - matched)
        guard part.elementsEqual(Self.preface[matched..<(matched + part.count)]) else {
            throw HTTP2Violation(.protocolError, "connection preface")
        }
        let count = matched + part.count
        phase = count == Self.preface.count ? .firstSettings : .preface(count)
        return bytes.dropFirst(part.count)
    }

    private mutating func handle(_ item: HTTP2FrameReader.Item, at now: Duration) throws(HTTP2Violation) {
        switch item {
        case .data(let piece):
            guard phase == .open else { throw HTTP2Violation(.protocolError, "DATA frame before SETTINGS") }
            guard !input.isInsideBlock else { throw HTTP2Violation(.protocolError, "DATA frame inside a field block") }
            try receivedData(piece, at: now)
        case .frame(let header, let frame): try handle(header, frame, at: now)
        }
    }

    private mutating func handle(
        _ header: HTTP2FrameHeader, _ frame: HTTP2Frame, at now: Duration
    ) throws(HTTP2Violation) {
        if case .continuation(let fragment, let endsHeaders) = frame {
            return try receivedContinuation(header, fragment, endsHeaders: endsHeaders, at: now)
        }
        guard !input.isInsideBlock else {
            throw HTTP2Violation(.protocolError, "\(header.name) frame inside a field block")
        }
        if phase == .firstSettings {
            guard case .settings = frame else {
                throw HTTP2Violation(.protocolError, "\(header.name) frame before SETTINGS")
            }
        }
        let id = header.streamID
        switch frame {
        case .headers(let headers): try receivedHeaders(header, headers, at: now)
        case .priority, .unknown: try chargeChore("\(header.name) frames", at: now)
        case .resetStream(let code): try receivedReset(id, code, at: now)
        case .settings(let settings): try receivedSettings(settings, at: now)
        case .settingsAcknowledgment: try receivedSettingsAcknowledgment(at: now)
        case .pushPromise: throw HTTP2Violation(.protocolError, "PUSH_PROMISE frame")
        case .ping(let data, let isAcknowledgment):
            try receivedPing(data, isAcknowledgment: isAcknowledgment, at: now)
        case .goAway(let last, let code, let debugData): try receivedGoAway(last, code, Array(debugData))
        case .windowUpdate(let increment): try receivedWindowUpdate(id, Int(increment), at: now)
        case .priorityUpdate(let stream, let value): try receivedPriorityUpdate(stream, value, at: now)
        case .data, .continuation: break
        }
    }

    /// Charges the flood guard for a frame that does not advance a message.
    mutating func chargeChore(_ what: String, at now: Duration) throws(HTTP2Violation) {
        guard floods.chores.take(at: now) else { throw HTTP2Violation(.enhanceYourCalm, "too many \(what)") }
    }

    /// Charges the flood guard for a stream that the peer resets, or that this side resets or refuses because of an
    /// invalid or excessive frame.
    mutating func chargeReset(at now: Duration) throws(HTTP2Violation) {
        guard floods.resets.take(at: now) else { throw HTTP2Violation(.enhanceYourCalm, "too many streams reset") }
    }

    /// Returns whether a stream is idle (RFC 9113 §5.1).
    func isIdle(_ id: HTTP2StreamID) -> Bool {
        switch role {
        case .client: id % 2 == 0 || id >= own.nextStreamID || streams[id]?.isWaiting == true
        case .server: id % 2 == 0 || id > peer.lastStreamID
        }
    }
}
