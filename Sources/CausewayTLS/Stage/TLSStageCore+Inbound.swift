internal import CausewayProtocols

extension TLSStageCore {
    /// Whether to drop received bytes, because nothing reads them any more.
    @inline(__always) private var dropsInbound: Bool { isOver || hasPeerClosed }

    var inboundRoom: Int {
        mutating get {
            if dropsInbound { return .max }
            guard phase != .idle, plaintextRoom > 0 else { return 0 }
            guard usesDatagrams else { return max(0, Self.limit - arrears.count) }
            return max(0, Self.limit - datagrams.byteCount - datagramSoFar.count)
        }
    }

    /// The plaintext bytes, or datagram bytes, that the queues can still accept.
    @inline(__always) private var plaintextRoom: Int {
        guard usesDatagrams else { return Self.limit - plaintext.count }
        return messages.count < Self.maximumMessages ? Self.limit - messages.byteCount : 0
    }

    mutating func receive(_ chunk: MessageChunk, at now: Duration) {
        self.now = now
        guard !dropsInbound, phase != .idle, !hasTransportEnded else { return }
        if usesDatagrams {
            receiveDatagram(chunk)
        } else {
            arrears.append(chunk.bytes)
        }
        if chunk.isFinal { hasTransportEnded = true }
        moveOn()
    }

    /// Passes borrowed bytes to the engine without a copy, if no earlier bytes are waiting.
    mutating func receive(lent bytes: UnsafeRawBufferPointer, at now: Duration) {
        let room = Self.limit - plaintext.count
        guard phase == .established, !usesDatagrams, arrears.isEmpty, room > 0, !dropsInbound, !hasTransportEnded
        else { return receive(MessageChunk([UInt8](bytes), endsMessage: false), at: now) }
        self.now = now
        engine.ciphertextArrived(bytes) {
            // Plaintext is shorter than its ciphertext. More can result only if the engine held the start of a record.
            _ = keep(readOnce(atMost: min(room, bytes.count)))
            read()
        }
    }

    /// Decrypts directly into the receiver's buffer, if no earlier bytes are waiting.
    mutating func receive(
        lent bytes: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer, at now: Duration
    ) -> Int? {
        guard phase == .established, !usesDatagrams, arrears.isEmpty, plaintext.isEmpty, events.isEmpty, !room.isEmpty,
            !dropsInbound, !hasTransportEnded, !engine.mayHavePlaintext
        else { return nil }
        self.now = now
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

    private mutating func receiveDatagram(_ chunk: MessageChunk) {
        datagramSoFar.append(chunk.bytes)
        guard chunk.endsMessage, !datagramSoFar.isEmpty else { return }
        let whole = datagramSoFar
        datagramSoFar = ByteChain()
        // An unlimited number of datagrams can arrive while the program validates a certificate, so the excess is dropped.
        guard datagrams.count < Self.maximumMessages else { return }
        datagrams.append(MessageChunk(whole))
    }

    mutating func nextInbound(atMost limit: Int) -> MessageChunk? {
        guard limit > 0, !hasFailed || abortion == nil else { return nil }
        guard let chunk = takeInbound(atMost: limit) else {
            guard hasPeerClosed, failure == nil, !wasEndDelivered else { return nil }
            wasEndDelivered = true
            return .end
        }
        if phase == .established, !hasFailed { read() }
        return chunk
    }

    private mutating func takeInbound(atMost limit: Int) -> MessageChunk? {
        if usesDatagrams { return messages.pop(atMost: limit) }
        guard !plaintext.isEmpty else { return nil }
        return MessageChunk(plaintext.take(atMost: limit), endsMessage: false)
    }

    /// Decrypts received bytes while there is room.
    mutating func read() {
        while !hasFailed, !hasPeerClosed {
            let room = plaintextRoom
            guard room > 0 else { return }
            // First read the bytes that the engine kept when there was no capacity for their plaintext.
            if engine.mayHavePlaintext {
                guard keep(readOnce(atMost: min(room, Self.record))) else { continue }
            }
            if let piece = nextPiece() {
                let capacity = min(room, piece.count + Self.record)
                let outcome = piece.withUnsafeBytes { bytes in
                    engine.ciphertextArrived(bytes) { readOnce(atMost: capacity) }
                }
                _ = keep(outcome)
            } else if !tellEnd() {
                return
            }
        }
    }

    /// Reads once from the engine, at most `limit` bytes.
    private func readOnce(atMost limit: Int) -> (bytes: [UInt8], result: TLSReadResult) {
        var result = TLSReadResult.needsCiphertext
        // A message longer than the buffer would be truncated.
        let capacity = usesDatagrams ? Self.record : limit
        // A local copy, because the closure would otherwise copy the whole stage.
        let engine = engine
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            result = engine.read(into: UnsafeMutableRawBufferPointer(buffer))
            if case .bytes(let read) = result { count = read }
        }
        return (bytes, result)
    }

    /// Queues a read result, or records the end of reading. Returns whether the engine needs more ciphertext.
    private mutating func keep(_ outcome: (bytes: [UInt8], result: TLSReadResult)) -> Bool {
        switch outcome.result {
        case .bytes:
            // Copy short content out of a large array to save memory.
            let bytes = outcome.bytes
            let isLoose = bytes.count < bytes.capacity / 4
            let tight = isLoose ? bytes.withUnsafeBufferPointer { [UInt8]($0) } : bytes
            if usesDatagrams { messages.append(MessageChunk(tight)) } else { plaintext.append(tight) }
            return false
        case .needsCiphertext, .ended, .failed: return note(outcome.result)
        }
    }

    /// Records the end of reading. Returns whether the engine needs more ciphertext.
    private mutating func note(_ result: TLSReadResult) -> Bool {
        switch result {
        case .bytes: break
        case .needsCiphertext: return true
        case .ended: hasPeerClosed = true
        case .failed(let reason): fail(reason)
        }
        return false
    }
}
