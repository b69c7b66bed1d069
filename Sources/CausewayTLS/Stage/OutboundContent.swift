internal import CausewayProtocols

/// Plaintext to encrypt. Also records whether the outbound direction is open, ending or ended: see ``Phase``.
struct OutboundContent {
    enum Phase: Hashable {
        case open
        /// A close_notify must be sent after the waiting content, and no more content is accepted. `passesEnd` is
        /// `true` if the stage above TLS has sent its final content. The stage below TLS must then also end the
        /// outbound direction, after the close_notify.
        case ending(passesEnd: Bool)
        case closeNotifySent(passesEnd: Bool)
        case endPassed
    }

    private(set) var phase = Phase.open
    /// The content starts with `piece`; `rest` follows.
    private var piece: ArraySlice<UInt8> = []
    private var rest = ByteChain()

    @inline(__always) var isOpen: Bool {
        if case .open = phase { true } else { false }
    }
    var isEmpty: Bool { rest.isEmpty && piece.isEmpty }
    var count: Int { rest.count + piece.count }

    /// Whether the engine's unsent bytes are the last bytes of the outbound direction: no content, no close_notify and
    /// no end of the direction follows them.
    var isComplete: Bool { phase == .closeNotifySent(passesEnd: false) || phase == .endPassed }

    mutating func append(_ bytes: ByteChain) { rest.append(bytes) }
    mutating func append(_ bytes: [UInt8]) { rest.append(bytes) }

    /// Returns the next bytes to encrypt; empty if there are none.
    mutating func nextPiece() -> ArraySlice<UInt8> {
        if piece.isEmpty { piece = rest.popPiece(atMost: TLSStage.bufferLimit) ?? [] }
        return piece
    }

    /// Removes encrypted bytes from the piece that ``nextPiece()`` returned.
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

    /// Returns `true` once, after all content was encrypted. The caller then sends the close_notify.
    mutating func takeCloseNotify() -> Bool {
        guard case .ending(let passesEnd) = phase, isEmpty else { return false }
        phase = .closeNotifySent(passesEnd: passesEnd)
        return true
    }

    /// Returns `true` once, after the close_notify was sent, if the stage below TLS must then end the outbound
    /// direction too.
    mutating func takeEnd() -> Bool {
        guard phase == .closeNotifySent(passesEnd: true) else { return false }
        phase = .endPassed
        return true
    }
}
