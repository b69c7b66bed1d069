internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// Content on its way: each step moves one thing, under the lock.
extension StackChannel.State {
    // MARK: From the transport

    /// How much to read now, if the stack takes any.
    mutating func nextRead(_ limit: Int) -> Int? {
        guard phase == .open || (phase == .closing && !hasSaidGoodbye), !isReadOutstanding, !transportHasEnded,
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
        // Somebody refused an earlier datagram: the oldest receive learns of it, and the stack lives on.
        if isDatagram, phase == .open, let refusal = content.error, let waiter = waiters.popFirst() {
            answers.append(waiter.answer(ReceivedContent(error: refusal)))
        }
        // A flow that failed answers at once for ever: its owner says what becomes of the channel.
        if !isDatagram, content.error != nil { transportHasEnded = true }
        if content.isFinal { noteEnd() }
    }

    /// - Returns: What the oldest receive is answered.
    mutating func take(lent bytes: UnsafeRawBufferPointer, isFinal: Bool, _ now: Duration) -> StackChannel.Answer {
        var answer = StackChannel.Answer.nothing
        if opening.timer != nil { opening.lastHeard = now }
        if !deliver(lent: bytes, &answer, now) { stack?.receive(lent: bytes, at: now) }
        if isFinal { noteEnd() }
        return answer
    }

    /// Up to so many bytes, of the ciphertext or asked for, are decrypted in the thread's block and copied from there; a block of their own
    /// costs more.
    private static var copiedLength: Int { 4096 }
    /// What a piece of ciphertext may bring beyond its own length: the rest of a record whose beginning came before (RFC 8446 §5.1).
    private static var recordLength: Int { 16 << 10 }

    /// Answers the oldest receive with what ciphertext becomes, if that waits for it and for nothing else: what goes through one
    /// protocol need not be kept in between. Returns false if nothing was done.
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

    /// - Returns: What `bytes` become, at most `limit` bytes; `nil` if something comes first.
    private mutating func decrypt(_ bytes: UnsafeRawBufferPointer, _ limit: Int, _ now: Duration) -> Data? {
        let room = UnsafeMutableRawBufferPointer(rebasing: StackChannel.transit[..<limit])
        guard let count = stack?.receive(lent: bytes, into: room, at: now) else { return nil }
        return Data(UnsafeRawBufferPointer(rebasing: room[..<count]))
    }

    /// The same in memory that becomes the content.
    private mutating func decryptInPlace(_ bytes: UnsafeRawBufferPointer, _ limit: Int, _ now: Duration) -> Data? {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: limit, alignment: 1)
        guard let base = block.baseAddress, let count = stack?.receive(lent: bytes, into: block, at: now) else {
            block.deallocate()
            return nil
        }
        // Little content in a large block would be large in memory.
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

    /// Answers the oldest receive, or moves a piece of its message closer. Returns whether anything moved.
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

    /// A control message is delivered at once, and the message that it interrupts goes on behind it (RFC 6455 §5.4).
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
        // What is there of a message that was cut off never looks like a whole one: the end follows by itself.
        let isCutOff = isAll && inbox.isCutOff && !inbox.content.isEmpty
        let isEnd = isAll && inbox.isWhole && !isCutOff
        // Programs index from zero.
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

    /// Takes what the stack has for the transport, within the window.
    mutating func nextWrite(_ now: Duration, _ window: Int, _ limit: Int) -> StackChannel.Write? {
        guard phase == .open || phase == .closing, !isAborted, unacknowledged < window, stack?.mayHaveOutbound == true
        else { return nil }
        var bytes = ByteChain()
        var isFinal = false
        // A datagram may come in several pieces.
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

    /// Puts what the stack has for the transport into the thread's block, if that is nothing but a little of a stream.
    ///
    /// - Returns: How many bytes are there.
    mutating func nextLoan(_ now: Duration, _ window: Int) -> Int {
        guard phase == .open, !isDatagram, unacknowledged < window, stack?.mayHaveOutbound == true,
            let count = stack?.takeOutbound(into: StackChannel.transit, at: now), count > 0
        else { return 0 }
        producedByteCount += UInt64(count)
        unacknowledged += count
        return count
    }

    /// Gives the stack the program's next piece, if it has room.
    mutating func nextMessage(_ now: Duration) -> Bool {
        guard phase == .open, !messages.isEmpty, let room = stack?.lookForOutboundRoom(), room > 0 else { return false }
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
            // What a stack of messages refuses while it stands does not fit one: the connection goes on without it.
            let isTooLong = isDatagram && stack?.isReady == true
            answer(next.waiter, Failure(errno: isTooLong ? Errno.messageTooLong : Errno.brokenPipe))
        }
        return true
    }

    /// Answers the sends whose bytes the transport has taken. The stack has just been emptied as far as the window allows.
    mutating func settleSends() -> Bool {
        guard phase == .open, !taken.isEmpty else { return false }
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

    /// Below this the stack was asked for everything it has.
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
        // Growing piece by piece would copy again what is there.
        if !chain.isEmpty { reserveCapacity(count + first.count + chain.count) }
        if isEmpty, chain.isEmpty {
            self = first.count < Self.sharedLength ? first.withUnsafeBytes { Data($0) } : Data(sharing: first)
        } else {
            append(contentsOf: first)
        }
        while let piece = chain.popPiece() { append(contentsOf: piece) }
    }

    /// From here on copying costs more than a closure that keeps the array.
    private static var sharedLength: Int { 8 << 10 }

    /// Content in the array in which it came, which lives as long.
    private init(sharing piece: ArraySlice<UInt8>) {
        // An array has its elements in one place until somebody changes it, and nobody else has this part of it.
        self = piece.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return Data() }
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count,
                deallocator: .custom { _, _ in withExtendedLifetime(piece) {} })
        }
    }
}
