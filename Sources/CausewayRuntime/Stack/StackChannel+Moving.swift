internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// Moves content between the program, the protocol stack and the transport. Each step moves one piece while the lock is
/// held.
extension StackChannel.State {
    // MARK: From the transport

    /// Begins a read from the transport if the stack accepts more content. Otherwise returns `nil`.
    mutating func nextRead() -> StackChannel.Read? {
        guard phase.isOpen || (phase.isClosing && !attempt.hasStackClosed), !receiving.isReadOutstanding,
            !receiving.transportHasEnded,
            let room = attempt.stack?.lookForInboundRoom(), room > 0
        else { return nil }
        receiving.isReadOutstanding = true
        return StackChannel.Read(
            length: isDatagram ? nil : min(room, StackReadSide.largestRead), attempt: attempt.number,
            isDirect: executor.delivery == nil)
    }

    mutating func take(_ content: ReceivedContent) {
        attempt.opening.heard(at: System.now)
        if let data = content.data {
            let chunk = MessageChunk([UInt8](data), endsMessage: isDatagram)
            attempt.stack?.receive(chunk, at: System.now)
        }
        // The network reported an error for an earlier datagram, for example an ICMP port unreachable message. The
        // oldest receive call fails with this error. The protocol stack continues.
        if isDatagram, phase.isOpen, let refusal = content.error, let waiter = receiving.waiters.popFirst() {
            turn.answers.append(waiter.answer(ReceivedContent(error: refusal)))
        }
        // The flow has failed, so every further read would return at once. Do not read again. The flow's owner decides
        // what happens to this channel.
        if !isDatagram, content.error != nil { receiving.transportHasEnded = true }
        if content.isFinal { noteEnd() }
    }

    /// Passes bytes from a stream to the stack.
    ///
    /// - Returns: The oldest receive call's result if these bytes complete the call; otherwise `nothing`.
    mutating func take(lent bytes: UnsafeRawBufferPointer, isFinal: Bool, _ now: Duration) -> StackChannel.Answer {
        var answer = StackChannel.Answer.nothing
        attempt.opening.heard(at: now)
        if !deliver(lent: bytes, &answer, now) { attempt.stack?.receive(lent: bytes, at: now) }
        if isFinal { noteEnd() }
        return answer
    }

    /// Content up to this length is decrypted into the thread's scratch block and then copied. For such content, a copy
    /// costs less than a separate block. The limit applies to the ciphertext and to the requested content.
    private static var copiedLength: Int { 4096 }
    /// The maximum number of bytes by which decrypted content can be longer than the ciphertext of the same read. The
    /// read may complete a record whose first part arrived earlier (RFC 8446 §5.1).
    private static var recordLength: Int { 16 << 10 }

    /// Decrypts `bytes` directly into the result of the oldest receive call.
    ///
    /// This is possible if the stack has a single protocol and no earlier content or result is pending.
    ///
    /// - Returns: Whether the bytes were consumed.
    private mutating func deliver(
        lent bytes: UnsafeRawBufferPointer, _ answer: inout StackChannel.Answer, _ now: Duration
    ) -> Bool {
        guard phase.isOpen, !isDatagram, !receiving.waiters.isEmpty, turn.answers.isEmpty, receiving.inbox.isUntouched,
            attempt.outcome == nil,
            attempt.stack?.isPlain == true
        else { return false }
        let (minimum, maximum) = (receiving.waiters[0].minimum, receiving.waiters[0].maximum)
        let isShort = min(bytes.count, maximum) <= Self.copiedLength
        let room = min(maximum, isShort ? Self.copiedLength : bytes.count + Self.recordLength)
        guard let content = isShort ? decrypt(bytes, room, now) : decryptInPlace(bytes, room, now) else { return false }
        guard content.count > 0 else { return true }
        guard content.count >= minimum else {
            receiving.inbox.content = content
            return true
        }
        receiving.byteCount += UInt64(content.count)
        answer = receiving.waiters.removeFirst().answer(ReceivedContent(data: content))
        return true
    }

    /// Decrypts `bytes` into the thread's scratch block. Copies the content from the block into the result.
    ///
    /// - Returns: At most `limit` bytes of content; `nil` if the stack must deliver something else first.
    private mutating func decrypt(_ bytes: UnsafeRawBufferPointer, _ limit: Int, _ now: Duration) -> Data? {
        let room = UnsafeMutableRawBufferPointer(rebasing: StackChannel.transit[..<limit])
        guard let count = attempt.stack?.receive(lent: bytes, into: room, at: now) else { return nil }
        return Data(UnsafeRawBufferPointer(rebasing: room[..<count]))
    }

    /// Decrypts `bytes` like ``decrypt(_:_:_:)``. The plaintext is written directly to memory that the returned content
    /// owns.
    private mutating func decryptInPlace(_ bytes: UnsafeRawBufferPointer, _ limit: Int, _ now: Duration) -> Data? {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: limit, alignment: 1)
        guard let base = block.baseAddress, let count = attempt.stack?.receive(lent: bytes, into: block, at: now) else {
            block.deallocate()
            return nil
        }
        // If the content is short, copy it. Without the copy, the short content would keep the whole block allocated.
        guard count >= limit / 4 else {
            defer { block.deallocate() }
            return Data(UnsafeRawBufferPointer(rebasing: block[..<count]))
        }
        return Data(bytesNoCopy: base, count: count, deallocator: .custom { base, _ in base.deallocate() })
    }

    private mutating func noteEnd() {
        receiving.transportHasEnded = true
        attempt.stack?.receive(.end, at: System.now)
    }

    /// Completes the oldest receive call, or moves part of the message for this call from the stack to the inbox.
    ///
    /// - Returns: Whether something changed.
    mutating func nextDelivery(_ now: Duration) -> Bool {
        guard mayDeliver, let waiter = receiving.waiters.first else { return false }
        if let answer = receiving.takeAnswer() {
            turn.answers.append(answer)
            return true
        }
        guard let chunk = nextInbound(atMost: waiter.maximum - receiving.inbox.content.count, now) else { return false }
        receiving.accept(chunk)
        return true
    }

    private mutating func nextInbound(atMost room: Int, _ now: Duration) -> MessageChunk? {
        if let kept = receiving.takeKept(atMost: room) { return kept }
        guard !phase.isFailed, attempt.stack?.mayHaveInbound == true else { return nil }
        return attempt.stack?.nextInbound(atMost: room, at: now)
    }

    // MARK: To the transport

    /// Takes the next output for the transport from the stack. Returns `nil` if there is none, or if the transport
    /// accepts no more.
    mutating func nextWrite(_ now: Duration, _ limit: Int) -> StackChannel.Write? {
        guard phase.maySend, sending.hasRoom, attempt.stack?.mayHaveOutbound == true else { return nil }
        var bytes = ByteChain()
        var isFinal = false
        // The stack may produce one datagram in several chunks. Collect chunks until the datagram is complete.
        var isComplete = false
        while !isComplete {
            let maximum = isDatagram ? .max : limit - bytes.count
            guard let chunk = attempt.stack?.nextOutbound(atMost: maximum, at: now) else { break }
            if bytes.isEmpty { bytes = chunk.bytes } else { bytes.append(chunk.bytes) }
            isFinal = chunk.isFinal
            isComplete = isFinal || (isDatagram ? chunk.endsMessage : bytes.count >= limit)
        }
        guard !bytes.isEmpty || isFinal || (isDatagram && isComplete) else { return nil }
        sending.produced(bytes.count)
        return StackChannel.Write(bytes: bytes, endsStream: isFinal && !isDatagram, attempt: attempt.number)
    }

    /// Moves output from the stack to the thread's scratch block. Moves nothing unless the output fits there and
    /// consists only of stream bytes.
    ///
    /// - Returns: The number of bytes moved; 0 if no output was moved.
    mutating func nextLoan(_ now: Duration) -> Int {
        guard phase.isOpen, !isDatagram, sending.hasRoom, attempt.stack?.mayHaveOutbound == true,
            let count = attempt.stack?.takeOutbound(into: StackChannel.transit, at: now), count > 0
        else { return 0 }
        sending.produced(count)
        return count
    }

    /// Removes the program's next message from the queue if the stack has room, and passes it to the stack. If the
    /// message has expired or cannot be sent, its send call fails instead. Returns whether a message was removed.
    mutating func nextMessage(_ now: Duration) -> Bool {
        guard phase.isOpen || phase.isClosing, !sending.messages.isEmpty,
            let room = attempt.stack?.lookForOutboundRoom(), room > 0
        else { return false }
        let next = sending.messages.removeFirst()
        if let deadline = next.deadline, deadline <= now {
            answer(next.waiter, Failure(errno: Errno.timedOut))
            return true
        }
        let envelope = MessageChunk(metadata: next.metadata, endsMessage: next.endsMessage, isFinal: next.isFinal)
        if next.content.withUnsafeBytes({ attempt.stack?.send(lent: $0, in: envelope, at: now) }) == true {
            sending.passed(next.content.count)
            sending.settleLater(next.waiter)
        } else {
            // Over a datagram transport, a ready stack rejects a message only if the message is too long. The
            // connection then continues without this message.
            let isTooLong = isDatagram && attempt.stack?.isReady == true
            answer(next.waiter, Failure(errno: isTooLong ? Errno.messageTooLong : Errno.brokenPipe))
        }
        return true
    }

    /// Completes the oldest send call if the transport has accepted the call's bytes.
    ///
    /// - Returns: Whether a send call was completed.
    mutating func settleSends() -> Bool {
        guard phase.isOpen || phase.isClosing, let waiter = sending.takeSettled() else { return false }
        answer(waiter, nil)
        return true
    }
}

extension Data {
    init(_ chain: ByteChain) {
        self.init()
        append(chain)
    }

    mutating func append(_ chain: ByteChain) {
        var chain = chain
        guard let first = chain.popPiece() else { return }
        // Reserve the whole capacity first. Otherwise, each appended piece could copy the existing bytes again.
        if !chain.isEmpty { reserveCapacity(count + first.count + chain.count) }
        if isEmpty, chain.isEmpty {
            self = first.count < Self.sharedLength ? first.withUnsafeBytes { Data($0) } : Data(sharing: first)
        } else {
            append(contentsOf: first)
        }
        while let piece = chain.popPiece() { append(contentsOf: piece) }
    }

    /// For content with at least this many bytes, a copy costs more than a closure that retains the array.
    private static var sharedLength: Int { 8 << 10 }

    /// Creates data that shares an array slice's memory without a copy, and retains that memory.
    private init(sharing piece: ArraySlice<UInt8>) {
        // The array's memory stays valid and does not move until the array is changed. The closure below retains the
        // slice, and no other code changes it.
        self = piece.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return Data() }
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count,
                deallocator: .custom { _, _ in withExtendedLifetime(piece) {} })
        }
    }
}
