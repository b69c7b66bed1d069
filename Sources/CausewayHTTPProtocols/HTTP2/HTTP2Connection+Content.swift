import CausewayProtocols
package import CausewayWire

extension HTTP2Connection {
    /// Handles a piece of a DATA frame (RFC 9113 §6.1).
    mutating func receivedData(_ piece: HTTP2DataPiece, at now: Duration) throws(HTTP2Violation) {
        let id = piece.streamID
        guard !isIdle(id) else { throw HTTP2Violation(.protocolError, "DATA frame on idle stream \(id)") }
        if piece.isFirst { try beginFrame(piece, at: now) }
        guard let stream = streams[id], stream.receiving == .content else { return discard(piece) }
        if piece.paddingCount > 0 { credit(piece.paddingCount, of: id) }
        let endsStream = piece.isLast && piece.endsStream
        if !piece.bytes.isEmpty || endsStream { events.append(.content(id, piece.bytes, endsStream: endsStream)) }
        if endsStream { endReceiving(id) }
    }

    /// Accounts for a whole frame and checks that the stream state permits it (RFC 9113 §5.1, §6.9).
    private mutating func beginFrame(_ piece: HTTP2DataPiece, at now: Duration) throws(HTTP2Violation) {
        let id = piece.streamID
        guard receiveWindow.receive(piece.flowControlledCount) else {
            throw HTTP2Violation(.flowControlError, "content beyond the window of the connection")
        }
        if piece.flowControlledCount == piece.paddingCount, !piece.endsStream {
            try chargeChore("DATA frames without content", at: now)
        }
        guard let stream = streams[id] else { return try receivedLate(piece, at: now) }
        switch stream.receiving {
        case .head:
            try failStream(HTTP2Violation(.protocolError, stream: id, "content before the head"), at: now)
        case .ended:
            try failStream(HTTP2Violation(.streamClosed, stream: id, "content after the end"), at: now)
        case .content:
            let pace = own.roundTrip.map {
                HTTP2ReceiveWindow.Pace(limit: configuration.maximumStreamWindow, roundTrip: $0, now: now)
            }
            guard let mistake = streams.update(id, { $0.mistake(in: piece, pace) }) ?? nil else { return }
            try failStream(mistake, at: now)
        }
    }

    /// Handles a DATA frame on a closed stream (RFC 9113 §5.1).
    private mutating func receivedLate(_ piece: HTTP2DataPiece, at now: Duration) throws(HTTP2Violation) {
        if streams.draining.contains(piece.streamID) {
            if piece.endsStream { completeDraining(piece.streamID) }
            return
        }
        switch streams.closing(of: piece.streamID) {
        // The peer may not have received this side's RST_STREAM yet.
        case .byReset: break
        case .byPeer: throw HTTP2Violation(.streamClosed, "DATA frame on closed stream \(piece.streamID)")
        case nil:
            try chargeReset(at: now)
            output.append(.resetStream(.streamClosed), on: piece.streamID)
            streams.remember(piece.streamID, .byReset)
        }
    }

    /// Discards undelivered content, and returns its size to the connection window.
    private mutating func discard(_ piece: HTTP2DataPiece) { creditConnection(piece.bytes.count + piece.paddingCount) }

    /// Gives the peer flow-control credit after the program has consumed content.
    ///
    /// - Parameters:
    ///   - count: The number of bytes. Every byte of a ``Event/content(_:_:endsStream:)`` event must be reported
    ///     once, even after the stream is closed.
    ///   - id: The stream.
    package mutating func took(_ count: Int, of id: HTTP2StreamID) {
        guard phase != .ended, count > 0 else { return }
        credit(count, of: id)
    }

    private mutating func credit(_ count: Int, of id: HTTP2StreamID) {
        creditConnection(count)
        let increment = streams.update(id) { stream in
            stream.receiving == .content ? stream.receiveWindow.credit(count) : nil
        }
        if case .some(let increment?) = increment { output.append(.windowUpdate(UInt32(clamping: increment)), on: id) }
    }

    private mutating func creditConnection(_ count: Int) {
        guard phase != .ended, let increment = receiveWindow.credit(count) else { return }
        output.append(.windowUpdate(UInt32(clamping: increment)))
    }
}
