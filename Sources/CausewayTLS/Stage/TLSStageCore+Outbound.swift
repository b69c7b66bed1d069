internal import CausewayProtocols

extension TLSStageCore {
    @inline(__always) private var isOpenForContent: Bool {
        phase == .established && outbound.isOpen && !isOver
    }

    var outboundRoom: Int {
        mutating get {
            guard isOpenForContent else { return 0 }
            return max(0, Self.limit - outbound.count - engine.unsentCount)
        }
    }

    mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool {
        retransmission.now = now
        guard isOpenForContent else { return false }
        outbound.append(chunk.bytes)
        if usesDatagrams, chunk.endsMessage, !writeMessage() { return false }
        if chunk.isFinal {
            outbound.end(passesEnd: true)
            encrypt(until: 0)
        }
        return true
    }

    /// Encrypts borrowed bytes without a copy, if no earlier bytes are waiting.
    mutating func send(lent bytes: UnsafeRawBufferPointer, in envelope: MessageChunk, at now: Duration) -> Bool {
        guard isOpenForContent, !usesDatagrams, !envelope.isFinal, !bytes.isEmpty, bytes.count <= Self.limit,
            outbound.isEmpty, engine.unsentCount == 0
        else { return send(envelope.holding(bytes), at: now) }
        retransmission.now = now
        switch Result(catching: { () throws(TLSFailure) in try engine.write(bytes) }) {
        case .success(let taken):
            if taken < bytes.count {
                outbound.append([UInt8](UnsafeRawBufferPointer(rebasing: bytes[taken...])))
            }
        case .failure(let reason): fail(reason)
        }
        return true
    }

    /// Encrypts one message. Returns `false` if it does not fit in a datagram; the connection continues.
    private mutating func writeMessage() -> Bool {
        let message = outbound.takeMessage()
        guard !message.isEmpty else { return true }
        switch write(message[...]) {
        case .success: return true
        case .failure(let reason):
            if reason.code != .messageTooLong { fail(reason) }
            return false
        }
    }

    private func write(_ bytes: ArraySlice<UInt8>) -> Result<Int, TLSFailure> {
        bytes.withUnsafeBytes { bytes in
            Result { () throws(TLSFailure) in try engine.write(bytes) }
        }
    }

    mutating func nextOutbound(atMost limit: Int) -> MessageChunk? {
        guard limit > 0, !isAborted, phase != .awaitingStep else { return nil }
        let wanted = min(limit, Self.limit)
        encrypt(until: wanted)
        var taken: [UInt8] = []
        engine.sendCiphertext { bytes in
            guard taken.isEmpty else { return 0 }
            taken = [UInt8](usesDatagrams ? bytes : UnsafeRawBufferPointer(rebasing: bytes.prefix(wanted)))
            return taken.count
        }
        if !taken.isEmpty { return MessageChunk(taken, endsMessage: usesDatagrams) }
        return !hasFailed && outbound.takeEnd() ? .end : nil
    }

    /// Copies the waiting ciphertext into the buffer `room` if all of it fits. If plaintext still waits for encryption,
    /// copies nothing. In that case, use ``nextOutbound(atMost:)``.
    mutating func takeOutbound(into room: UnsafeMutableRawBufferPointer) -> Int {
        guard isOpenForContent, !usesDatagrams, outbound.isEmpty else { return 0 }
        var taken = 0
        engine.sendCiphertext { bytes in
            guard taken == 0, bytes.count <= room.count else { return 0 }
            room.copyMemory(from: bytes)
            taken = bytes.count
            return taken
        }
        return taken
    }

    /// Encrypts content until `count` bytes of ciphertext are waiting to be sent. After the last content, adds the
    /// close_notify.
    private mutating func encrypt(until count: Int) {
        guard phase == .established, !hasFailed, !usesDatagrams || !outbound.isOpen else { return }
        while !usesDatagrams, engine.unsentCount < count {
            let piece = outbound.nextPiece()
            guard !piece.isEmpty else { break }
            switch write(piece) {
            case .success(let taken):
                guard taken > 0 else { return }
                outbound.drop(taken)
            case .failure(let reason): return fail(reason)
            }
        }
        if outbound.takeCloseNotify() { engine.close() }
    }

    mutating func close(at now: Duration) {
        retransmission.now = now
        guard !isClosing, !isOver else { return }
        isClosing = true
        outbound.end(passesEnd: false)
        if usesDatagrams { outbound.removeAll() }
        encrypt(until: 0)
    }
}
