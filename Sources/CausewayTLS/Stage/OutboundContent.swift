internal import CausewayProtocols

/// The plaintext that must still be encrypted. Also records the state of the outbound direction: see ``Phase``.
struct OutboundContent {
    enum Phase: Hashable {
        case open
        /// The stage must send a close_notify after the waiting content. It accepts no more content.
        ///
        /// `passesEnd` is `true` if the stage above TLS has sent its final content. Then the stage below TLS must also
        /// end the outbound direction, after the close_notify.
        case ending(passesEnd: Bool)
        case closeNotifySent(passesEnd: Bool)
        case endPassed
    }

    private(set) var phase = Phase.open
    /// The content that waits to be sent: first `piece`, then `rest`.
    private var piece: ArraySlice<UInt8> = []
    private var rest = ByteChain()

    @inline(__always) var isOpen: Bool {
        if case .open = phase { true } else { false }
    }
    var isEmpty: Bool { rest.isEmpty && piece.isEmpty }
    var count: Int { rest.count + piece.count }

    /// Whether nothing remains to be passed to the engine: no content, no close_notify, and no end of the direction.
    /// The engine may still hold bytes to send.
    var isComplete: Bool { phase == .closeNotifySent(passesEnd: false) || phase == .endPassed }

    mutating func append(_ bytes: ByteChain) { rest.append(bytes) }
    mutating func append(_ bytes: [UInt8]) { rest.append(bytes) }

    /// Returns the next bytes to encrypt; empty if there are none.
    mutating func nextPiece() -> ArraySlice<UInt8> {
        if piece.isEmpty { piece = rest.popPiece(atMost: TLSStage.bufferLimit) ?? [] }
        return piece
    }

    /// Removes the first `count` bytes of the piece that ``nextPiece()`` returned. They have been encrypted.
    mutating func drop(_ count: Int) { piece = piece.dropFirst(count) }

    /// Removes and returns all content. Used with datagrams, where the content is always one message.
    mutating func takeMessage() -> [UInt8] {
        let message = rest.bytes
        rest = ByteChain()
        return message
    }

    /// Drops all content.
    mutating func removeAll() {
        piece = []
        rest = ByteChain()
    }

    /// Ends the outbound direction after the waiting content. Has no effect if this direction is already ending.
    mutating func end(passesEnd: Bool) {
        if isOpen { phase = .ending(passesEnd: passesEnd) }
    }

    /// Returns `true` exactly once, when all content was encrypted. The caller must then send the close_notify.
    mutating func takeCloseNotify() -> Bool {
        guard case .ending(let passesEnd) = phase, isEmpty else { return false }
        phase = .closeNotifySent(passesEnd: passesEnd)
        return true
    }

    /// Returns whether the stage below must now end its outbound direction too. Returns `true` only once, after TLS has
    /// sent its close_notify alert.
    mutating func takeEnd() -> Bool {
        guard phase == .closeNotifySent(passesEnd: true) else { return false }
        phase = .endPassed
        return true
    }
}
