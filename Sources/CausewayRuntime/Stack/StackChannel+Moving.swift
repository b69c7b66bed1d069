internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// Moves content between program, stack and transport. Each step moves one piece under the lock.
extension StackChannel.State {
    // MARK: From the transport

    /// Begins a read if the stack has room. Returns the maximum number of bytes to read; `nil` if nothing should be
    /// read now.
    mutating func nextRead(_ limit: Int) -> Int? {
        guard phase == .open || (phase == .closing && !hasStackClosed), !isReadOutstanding, !transportHasEnded,
            let room = stack?.lookForInboundRoom(), room > 0
        else { return nil }
        isReadOutstanding = true
        return min(room, limit)
    }

    mutating func take(_ content: ReceivedContent) {
        if opening.timer != nil { opening.lastHeard = System.now }
        if let data = content.data {
            let chunk = MessageChunk([UInt8](data), endsMessage: isDatagram)
            stack?.receive(chunk, at: System.now)
        }
        // The network reported an error for an earlier datagram (for example an ICMP port unreachable). The oldest
        // receive fails with this error; the stack continues.
        if isDatagram, phase == .open, let refusal = content.error, let waiter = waiters.popFirst() {
            answers.append(waiter.answer(ReceivedContent(error: refusal)))
        }
        // A failed flow completes every read at once, so do not read again. The flow's owner decides what happens to
        // the channel.
        if !isDatagram, content.error != nil { transportHasEnded = true }
        if content.isFinal { noteEnd() }
    }

    /// Passes bytes from a stream to the stack.
    ///
    /// - Returns: The oldest receive's result if these bytes complete it; otherwise `nothing`.
    mutating func take(lent bytes: UnsafeRawBufferPointer, isFinal: Bool, _ now: Duration) -> StackChannel.Answer {
        var answer = StackChannel.Answer.nothing
        if opening.timer != nil { opening.lastHeard = now }
        if !deliver(lent: bytes, &answer, now) { stack?.receive(lent: bytes, at: now) }
        if isFinal { noteEnd() }
        return answer
    }

    /// The longest ciphertext or requested content to decrypt into the thread's scratch block and then copy. Up to this
    /// length, a copy costs less than a separate block.
    private static var copiedLength: Int { 4096 }
    /// The maximum number of bytes by which a read's content exceeds its ciphertext: the read may complete a record
    /// whose first part arrived earlier (RFC 8446 §5.1).
    private static var recordLength: Int { 16 << 10 }

    /// Decrypts `bytes` directly into the oldest receive's result, without a copy. This is possible if the stack has a
    /// single protocol and no earlier content or result is pending.
    ///
    /// - Returns: Whether the bytes were consumed.
    private mutating func deliver(
        lent bytes: UnsafeRawBufferPointer, _ answer: inout StackChannel.Answer, _ now: Duration
    ) -> Bool {
        guard phase == .open, !isDatagram, !waiters.isEmpty, answers.isEmpty, inbox.isUntouched, outcome == nil,
            stack?.isPlain == true
        else { return false }
        let (minimum, maximum) = (waiters[0].minimum, waiters[0].maximum)
        let isShort = min(bytes.count, maximum) <= Self.copiedLength
        let room = min(maximum, isShort ? Self.copiedLength : bytes.count + Self.recordLength)
        guard let content = isShort ? decrypt(bytes, room, now) : decryptInPlace(bytes, room, now) else { return false }
        guard content.count > 0 else { return true }
        guard content.count >= minimum else {
            inbox.content = content
            return true
        }
        receivedByteCount += UInt64(content.count)
        answer = waiters.removeFirst().answer(ReceivedContent(data: content))
        return true
    }

    /// Decrypts `bytes` into the thread's scratch block and copies the content.
    ///
    /// - Returns: At most `limit` bytes of content; `nil` if the stack must deliver something else first.
    private mutating func decrypt(_ bytes: UnsafeRawBufferPointer, _ limit: Int, _ now: Duration) -> Data? {
        let room = UnsafeMutableRawBufferPointer(rebasing: StackChannel.transit[..<limit])
        guard let count = stack?.receive(lent: bytes, into: room, at: now) else { return nil }
        return Data(UnsafeRawBufferPointer(rebasing: room[..<count]))
    }

    /// Decrypts `bytes` like ``decrypt(_:_:_:)``, but into memory that the returned content owns.
    private mutating func decryptInPlace(_ bytes: UnsafeRawBufferPointer, _ limit: Int, _ now: Duration) -> Data? {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: limit, alignment: 1)
        guard let base = block.baseAddress, let count = stack?.receive(lent: bytes, into: block, at: now) else {
            block.deallocate()
            return nil
        }
        // Copy short content: otherwise it would keep the whole block allocated.
        guard count >= limit / 4 else {
            defer { block.deallocate() }
            return Data(UnsafeRawBufferPointer(rebasing: block[..<count]))
        }
        return Data(bytesNoCopy: base, count: count, deallocator: .custom { base, _ in base.deallocate() })
    }

    private mutating func noteEnd() {
        transportHasEnded = true
        stack?.receive(.end, at: System.now)
    }

    /// Completes the oldest receive, or moves part of its message from the stack to the inbox.
    ///
    /// - Returns: Whether something changed.
    mutating func nextDelivery(_ now: Duration) -> Bool {
        guard mayDeliver, let waiter = waiters.first else { return false }
        if inbox.hasEnded {
            waiters.removeFirst()
            let nothing = ReceivedContent(isFinal: true, isComplete: true, error: Failure(errno: Errno.noData))
            answers.append(waiter.answer(nothing))
            return true
        }
        if inbox.isWhole || inbox.content.count >= waiter.minimum {
            waiters.removeFirst()
            answers.append(waiter.answer(takeContent(atMost: waiter.maximum)))
            return true
        }
        let room = waiter.maximum - inbox.content.count
        guard let chunk = nextInbound(atMost: room, now) else { return false }
        makeWay(for: chunk.kind)
        inbox.content.append(chunk.bytes)
        if !chunk.metadata.isEmpty { inbox.metadata = chunk.metadata }
        inbox.isWhole = chunk.endsMessage || chunk.isFinal
        inbox.isFinal = chunk.isFinal
        inbox.isCutOff = chunk.isFinal && !chunk.endsMessage
        return true
    }

    /// Empties the inbox for a control message, which is delivered at once. The interrupted content message continues
    /// after it (RFC 6455 §5.4).
    private mutating func makeWay(for kind: MessageChunk.Kind) {
        guard kind != .content, inbox.kind == .content else { return }
        interrupted = kind == .control ? inbox : nil
        inbox = StackChannel.Inbox(kind: kind)
    }

    private mutating func nextInbound(atMost room: Int, _ now: Duration) -> MessageChunk? {
        guard var first = rest.popFirst() else {
            guard phase != .failed, stack?.mayHaveInbound == true else { return nil }
            return stack?.nextInbound(atMost: room, at: now)
        }
        guard first.bytes.count > room else { return first }
        let piece = first.take(atMost: room)
        rest.prepend(first)
        return piece
    }

    private mutating func takeContent(atMost limit: Int) -> ReceivedContent {
        let isAll = inbox.content.count <= limit
        // Deliver the truncated message as incomplete. The next receive gets the end.
        let isCutOff = isAll && inbox.isCutOff && !inbox.content.isEmpty
        let isEnd = isAll && inbox.isWhole && !isCutOff
        // Programs expect content indices to begin at zero.
        let data = isAll ? inbox.content : Data(inbox.content.prefix(limit))
        receivedByteCount += UInt64(data.count)
        let content = ReceivedContent(
            data: data.isEmpty ? nil : data, isFinal: isEnd && inbox.isFinal, isComplete: isEnd,
            metadata: inbox.metadata)
        if isEnd {
            inbox = interrupted.take() ?? StackChannel.Inbox(hasEnded: inbox.isFinal)
        } else if isCutOff {
            inbox = StackChannel.Inbox(isWhole: true, isFinal: true)
        } else {
            inbox.content = isAll ? Data() : Data(inbox.content.dropFirst(limit))
        }
        return content
    }

    // MARK: To the transport

    /// Takes stack output for the transport, if fewer than `window` bytes are waiting there.
    mutating func nextWrite(_ now: Duration, _ window: Int, _ limit: Int) -> StackChannel.Write? {
        guard phase == .open || phase == .closing, !isAborted, unacknowledged < window, stack?.mayHaveOutbound == true
        else { return nil }
        var bytes = ByteChain()
        var isFinal = false
        // A datagram can consist of several chunks.
        var isComplete = false
        while !isComplete {
            let maximum = isDatagram ? .max : limit - bytes.count
            guard let chunk = stack?.nextOutbound(atMost: maximum, at: now) else { break }
            if bytes.isEmpty { bytes = chunk.bytes } else { bytes.append(chunk.bytes) }
            isFinal = chunk.isFinal
            isComplete = isFinal || (isDatagram ? chunk.endsMessage : bytes.count >= limit)
        }
        guard !bytes.isEmpty || isFinal || (isDatagram && isComplete) else { return nil }
        producedByteCount += UInt64(bytes.count)
        unacknowledged += bytes.count
        return StackChannel.Write(bytes: bytes, endsStream: isFinal && !isDatagram, attempt: attempt)
    }

    /// Writes stack output to the thread's scratch block, if it fits there and consists only of stream bytes.
    ///
    /// - Returns: The number of bytes written.
    mutating func nextLoan(_ now: Duration, _ window: Int) -> Int {
        guard phase == .open, !isDatagram, unacknowledged < window, stack?.mayHaveOutbound == true,
            let count = stack?.takeOutbound(into: StackChannel.transit, at: now), count > 0
        else { return 0 }
        producedByteCount += UInt64(count)
        unacknowledged += count
        return count
    }

    /// Passes the program's next content to the stack, if the stack has room. Returns whether the content was passed or
    /// its send failed.
    mutating func nextMessage(_ now: Duration) -> Bool {
        guard phase == .open || phase == .closing, !messages.isEmpty, let room = stack?.lookForOutboundRoom(), room > 0
        else { return false }
        let next = messages.removeFirst()
        if let deadline = next.deadline, deadline <= now {
            answer(next.waiter, Failure(errno: Errno.timedOut))
            return true
        }
        let envelope = MessageChunk(metadata: next.metadata, endsMessage: next.endsMessage, isFinal: next.isFinal)
        if next.content.withUnsafeBytes({ stack?.send(lent: $0, in: envelope, at: now) }) == true {
            sentByteCount += UInt64(next.content.count)
            taken.append((next.waiter, nil))
        } else {
            // Over a datagram transport, a ready stack rejects a message only if it is too long. The connection
            // continues without it.
            let isTooLong = isDatagram && stack?.isReady == true
            answer(next.waiter, Failure(errno: isTooLong ? Errno.messageTooLong : Errno.brokenPipe))
        }
        return true
    }

    /// Completes the oldest send if the transport has accepted its bytes. Before this call, the caller moves output to
    /// the transport until the stack has no more or ``StackChannel/writeWindow`` bytes are waiting there.
    ///
    /// - Returns: Whether a send was completed.
    mutating func settleSends() -> Bool {
        guard phase == .open || phase == .closing, !taken.isEmpty else { return false }
        if unacknowledged < Self.settledWindow {
            for index in taken.indices where taken[index].mark == nil { taken[index].mark = producedByteCount }
        }
        guard let first = taken.first, let mark = first.mark,
            mark + UInt64(unacknowledged) <= producedByteCount
        else { return false }
        taken.removeFirst()
        answer(first.waiter, nil)
        return true
    }

    /// Below this many bytes waiting in the transport, the caller of ``settleSends()`` has moved all stack output.
    private static var settledWindow: Int { 256 << 10 }
}

extension Data {
    init(_ chain: ByteChain) {
        self.init()
        append(chain)
    }

    fileprivate mutating func append(_ chain: ByteChain) {
        var chain = chain
        guard let first = chain.popPiece() else { return }
        // Reserve the whole capacity: appending piece by piece would copy the existing bytes several times.
        if !chain.isEmpty { reserveCapacity(count + first.count + chain.count) }
        if isEmpty, chain.isEmpty {
            self = first.count < Self.sharedLength ? first.withUnsafeBytes { Data($0) } : Data(sharing: first)
        } else {
            append(contentsOf: first)
        }
        while let piece = chain.popPiece() { append(contentsOf: piece) }
    }

    /// From this byte count on, a copy costs more than a closure that retains the array.
    private static var sharedLength: Int { 8 << 10 }

    /// Creates data that shares an array slice's memory and retains it.
    private init(sharing piece: ArraySlice<UInt8>) {
        // The elements stay at one address until the array is mutated. The closure retains this slice, and no other code mutates it.
        self = piece.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return Data() }
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count,
                deallocator: .custom { _, _ in withExtendedLifetime(piece) {} })
        }
    }
}
