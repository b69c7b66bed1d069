internal import CausewayProtocols

extension TLSStageCore {
    /// Whether received bytes are dropped because no code will read them.
    @inline(__always) private var dropsInbound: Bool { isOver || plaintext.isClosed }

    var inboundRoom: Int {
        mutating get {
            if dropsInbound { return .max }
            guard phase != .idle, plaintext.room > 0 else { return 0 }
            return pendingCiphertext.room
        }
    }

    mutating func receive(_ chunk: MessageChunk, at now: Duration) {
        retransmission.now = now
        guard !dropsInbound, phase != .idle, !pendingCiphertext.hasEnded else { return }
        pendingCiphertext.append(chunk)
        moveOn()
    }

    /// Passes borrowed bytes to the engine without a copy, if no earlier bytes are waiting.
    mutating func receive(lent bytes: UnsafeRawBufferPointer, at now: Duration) {
        let room = plaintext.room
        guard phase == .established, !usesDatagrams, pendingCiphertext.isEmpty, room > 0, !dropsInbound,
            !pendingCiphertext.hasEnded
        else { return receive(MessageChunk([UInt8](bytes), endsMessage: false), at: now) }
        retransmission.now = now
        engine.ciphertextArrived(bytes) {
            // Decrypted content is shorter than the encrypted bytes. So a buffer with the size of the new encrypted
            // bytes is usually large enough. If the engine already had the start of a record, the decrypted content can
            // be longer. The following `read()` call then reads the rest.
            _ = keep(readOnce(atMost: min(room, bytes.count)))
            read()
        }
    }

    /// Decrypts directly into the receiver's buffer, if no earlier bytes are waiting.
    mutating func receive(
        lent bytes: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer, at now: Duration
    ) -> Int? {
        guard phase == .established, !usesDatagrams, pendingCiphertext.isEmpty, plaintext.isEmpty, events.isEmpty,
            !room.isEmpty, !dropsInbound, !pendingCiphertext.hasEnded, !engine.mayHavePlaintext
        else { return nil }
        retransmission.now = now
        return engine.ciphertextArrived(bytes) {
            let result = engine.read(into: room)
            guard case .bytes(let count) = result else {
                _ = note(result)
                return 0
            }
            read()
            return count
        }
    }

    mutating func nextInbound(atMost limit: Int) -> MessageChunk? {
        guard limit > 0, !isAborted else { return nil }
        guard let chunk = plaintext.pop(atMost: limit) else {
            return !hasFailed && plaintext.takeEnd() ? .end : nil
        }
        if phase == .established, !hasFailed { read() }
        return chunk
    }

    /// Decrypts received bytes while the plaintext queue has capacity.
    mutating func read() {
        while !hasFailed, !plaintext.isClosed {
            let room = plaintext.room
            guard room > 0 else { return }
            // The TLS engine may have kept bytes whose plaintext did not fit earlier. Read these bytes first.
            if engine.mayHavePlaintext {
                guard keep(readOnce(atMost: min(room, Self.record))) else { continue }
            }
            if let piece = pendingCiphertext.popPiece() {
                let capacity = min(room, piece.count + Self.record)
                let outcome = piece.withUnsafeBytes { bytes in
                    engine.ciphertextArrived(bytes) { readOnce(atMost: capacity) }
                }
                _ = keep(outcome)
            } else if !notifyEngineOfEnd() {
                return
            }
        }
    }

    /// Reads once from the engine, at most `limit` bytes.
    private func readOnce(atMost limit: Int) -> (bytes: [UInt8], result: TLSReadResult) {
        var result = TLSReadResult.needsCiphertext
        // With DTLS, provide space for a whole message, because a buffer that is too small would truncate the message.
        let capacity = usesDatagrams ? Self.record : limit
        // The closure below uses this local copy of the engine. If the closure used the property instead, it would copy
        // the whole stage.
        let engine = engine
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            result = engine.read(into: UnsafeMutableRawBufferPointer(buffer))
            if case .bytes(let read) = result { count = read }
        }
        return (bytes, result)
    }

    /// Queues the plaintext from one read of the engine. If the read reports the end or a failure, the method records
    /// it. Returns whether the engine needs more ciphertext.
    private mutating func keep(_ outcome: (bytes: [UInt8], result: TLSReadResult)) -> Bool {
        switch outcome.result {
        case .bytes:
            // Copy short content out of a large array to save memory.
            let bytes = outcome.bytes
            let isLoose = bytes.count < bytes.capacity / 4
            let tight = isLoose ? bytes.withUnsafeBufferPointer { [UInt8]($0) } : bytes
            plaintext.append(tight)
            return false
        case .needsCiphertext, .ended, .failed: return note(outcome.result)
        }
    }

    /// Handles the result of a read. Returns `true` if the engine needs more ciphertext.
    private mutating func note(_ result: TLSReadResult) -> Bool {
        switch result {
        case .bytes: break
        case .needsCiphertext: return true
        case .ended: plaintext.close()
        case .failed(let reason): fail(reason)
        }
        return false
    }
}
