internal import CausewayProtocols

extension TLSStageCore {
    /// Nothing is held back once nothing is read: it is dropped.
    @inline(__always) private var dropsInbound: Bool { isOver || hasPeerClosed }

    var inboundRoom: Int {
        mutating get {
            if dropsInbound { return .max }
            guard phase != .idle, plaintextRoom > 0 else { return 0 }
            guard usesDatagrams else { return max(0, Self.limit - arrears.count) }
            return max(0, Self.limit - datagrams.byteCount - datagramSoFar.count)
        }
    }

    /// How many bytes of plaintext find room.
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

    /// Shows the engine bytes where they lie, if none wait to be shown before them.
    mutating func receive(lent bytes: UnsafeRawBufferPointer, at now: Duration) {
        let room = Self.limit - plaintext.count
        guard phase == .established, !usesDatagrams, arrears.isEmpty, room > 0, !dropsInbound, !hasTransportEnded
        else { return receive(MessageChunk([UInt8](bytes), endsMessage: false), at: now) }
        self.now = now
        engine.ciphertextArrived(bytes) {
            // Plaintext is shorter than its ciphertext; only behind a piece of a record more may come.
            _ = keep(readOnce(atMost: min(room, bytes.count)))
            read()
        }
    }

    /// Decrypts straight into the room of who takes it, if nothing waits to be taken before.
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
        // Nobody bounds how many datagrams arrive while the program judges a certificate: they may get lost.
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

    /// Decrypts what has arrived, as far as there is room.
    mutating func read() {
        while !hasFailed, !hasPeerClosed {
            let room = plaintextRoom
            guard room > 0 else { return }
            // First what the engine kept, for the room may have ended in the middle of a piece.
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

    /// - Returns: What was read, at most `limit` bytes of it.
    private func readOnce(atMost limit: Int) -> (bytes: [UInt8], result: TLSReadResult) {
        var result = TLSReadResult.needsCiphertext
        // A message longer than the buffer would be cut.
        let capacity = usesDatagrams ? Self.record : limit
        // Alone: the closure would have the whole stage copied.
        let engine = engine
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            result = engine.read(into: UnsafeMutableRawBufferPointer(buffer))
            if case .bytes(let read) = result { count = read }
        }
        return (bytes, result)
    }

    /// Queues what was read, or notes how reading ended. Returns whether the engine needs more.
    private mutating func keep(_ outcome: (bytes: [UInt8], result: TLSReadResult)) -> Bool {
        switch outcome.result {
        case .bytes:
            // Little content in a large array would be large in memory.
            let bytes = outcome.bytes
            let isLoose = bytes.count < bytes.capacity / 4
            let tight = isLoose ? bytes.withUnsafeBufferPointer { [UInt8]($0) } : bytes
            if usesDatagrams { messages.append(MessageChunk(tight)) } else { plaintext.append(tight) }
            return false
        case .needsCiphertext, .ended, .failed: return note(outcome.result)
        }
    }

    /// Notes how reading ended. Returns whether the engine needs more.
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
