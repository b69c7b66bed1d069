internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// A read that the current thread must perform. Until this read has ended, no other thread reads.
struct ReadPlan {
    var transport: Transport
    var length: Int
    var isDatagram: Bool
    /// Whether the oldest receive call comes from the protocols above the transport. If so, they read the content
    /// directly in the thread's scratch buffer.
    var isForChannel = false
    /// Whether exactly one receive call is waiting, and a task or closure of the program made it.
    var isForOne = false
}

/// What a read has received.
enum Arrived {
    case data(Data)
    /// The number of bytes that the read placed at the start of the thread's scratch block.
    case lent(Int)
}

extension Flow.State {
    mutating func beginRead() -> ReadPlan? {
        guard hasReadWork, let transport = link.transport else { return nil }
        if case .peer = transport { return nil }
        reading.claim()
        let length = min(max(reading.receives.queue.wanted, Flow.readAhead), 256 << 10)
        var plan = ReadPlan(transport: transport, length: length, isDatagram: kind == .datagram)
        if reading.receives.waiters.first?.takesLoans == true { plan.isForChannel = true }
        plan.isForOne = reading.receives.waiters.first?.takesAll == true && reading.receives.waiters.rest.isEmpty
        return plan
    }

    /// Gives the current thread the exclusive right to read, for a receive call that reads on the caller's thread.
    ///
    /// On the loop's thread, one call in every ``Flow/readBudget`` calls does not get this right. In that case, this
    /// method sets `isPostponed`, and the caller must call ``Flow/requeueRead()``. Without this rule, a fast peer and
    /// the task that receives from it could occupy the thread.
    mutating func beginRead(onLoop isOnLoop: @autoclosure () -> Bool, _ isPostponed: inout Bool) -> ReadPlan? {
        guard hasReadWork else { return nil }
        reading.burst += 1
        guard reading.burst >= Flow.readBudget else { return beginRead() }
        reading.burst = 0
        isPostponed = isOnLoop()
        return isPostponed ? nil : beginRead()
    }

    mutating func finishRead(_ result: IOResult, _ length: Int, _ arrived: Arrived?, _ deferred: inout DeferredActions)
    {
        reading.isReading = false
        guard !link.isEnding else { return }
        switch result {
        case .moved(0) where isDraining:
            finishDraining(&deferred)
        case .wouldBlock where isDraining:
            reading.remainder = .content
            finishDraining(&deferred)
        case .moved(0) where writing.isWriting || link.claims > 0 || reading.signs.contains(.brokenPipe):
            // After a reset by the peer, the kernel reports the reset to only one system call. Later reads return the
            // end of the stream instead. During this read, another thread used the transport, and its call may have got
            // the reset. So do not report the end of the stream yet.
            reading.signs.insert(.doubtfulEnd)
        case .moved(0):
            reading.receives.queue.ended()
            match(nil, &deferred)
        case .moved(let count):
            reading.moved(count, into: length)
            reading.receives.queue.arrived(count)
            switch arrived {
            case .data(let data): match(data, &deferred)
            case .lent(let count): lend(count, &deferred)
            case nil: break
            }
        case .wouldBlock:
            break
        case .failed(let code) where reading.receives.waiters.isEmpty && !reading.receives.leftover.isEmpty:
            lose(Failure(errno: code), isBehindEnd: false, &deferred)
        case .failed(let code):
            breakDown(Failure(errno: code), &deferred)
        }
    }

    /// Ends this thread's exclusive right to read, if one receive call takes all bytes that were read. No earlier
    /// content may be waiting.
    ///
    /// Returns whether the right has ended. If it has, the caller must complete the receive call.
    mutating func finishRead(forOne count: Int, _ length: Int) -> Bool {
        guard !link.isEnding, link.mayTransfer, reading.signs.isDisjoint(with: [.error, .brokenPipe]),
            reading.receives.passes(count)
        else { return false }
        reading.isReading = false
        reading.moved(count, into: length)
        return true
    }

    /// Prepares another read if the end of the stream is uncertain. Does this only if no other thread uses the
    /// transport. Returns whether the caller must start the read.
    ///
    /// For example, the end is uncertain if another thread used the transport during the read. That thread's call may
    /// have received a reset.
    mutating func settleEnd() -> Bool {
        guard reading.signs.contains(.doubtfulEnd), !writing.isWriting, link.claims == 0, !link.isEnding else {
            return false
        }
        reading.signs.remove(.doubtfulEnd)
        reading.isReadable = true
        return true
    }

    /// Passes the content to the protocols above the transport without a copy, if no earlier content waits.
    private mutating func lend(_ arrived: Int, _ deferred: inout DeferredActions) {
        guard link.mayTransfer, reading.receives.leftover.isEmpty, reading.receives.waiters.first?.takesLoans == true,
            case .bytes(_, let maximum) = reading.receives.queue.oldest, arrived <= maximum,
            case .content(_, let endsMessage, let endsStream) = reading.receives.queue.next(),
            let waiter = reading.receives.waiters.popFirst()
        else {
            return match(Data(UnsafeRawBufferPointer(rebasing: ThreadLocal.scratch[..<arrived])), &deferred)
        }
        if case .stack(let handler, let attempt, _) = waiter {
            return deferred.resume(.arrived(handler, attempt, .lent(byteCount: arrived, isFinal: endsStream)))
        }
        var content = ReceivedContent(isFinal: endsStream, isComplete: endsMessage)
        content.lentCount = arrived
        answer(waiter, content, &deferred)
    }

    /// Completes every receive call for which enough content is available. The available content is the leftover bytes
    /// from earlier reads, followed by `arrived`.
    mutating func match(_ arrived: Data?, _ deferred: inout DeferredActions) {
        guard link.mayTransfer else { return }
        if kind == .datagram { return matchDatagrams(&deferred) }
        if arrived == nil, reading.receives.queue.isIdle { return }
        var pending = Backlog(taking: &reading.receives.leftover, arrived: arrived)
        while let outcome = reading.receives.queue.next(), let waiter = reading.receives.waiters.popFirst() {
            switch outcome {
            case .content(let count, let endsMessage, let endsStream):
                let data = count == 0 ? nil : pending.take(count)
                answer(
                    waiter, ReceivedContent(data: data, isFinal: endsStream, isComplete: endsMessage), &deferred)
            case .nothingMore:
                let error = Failure(errno: Errno.noData)
                answer(waiter, ReceivedContent(isFinal: true, isComplete: true, error: error), &deferred)
            }
        }
        reading.receives.leftover = pending.rest()
        if reading.receives.queue.hasEnded { noteEnds(&deferred) }
    }
}

/// Received bytes that wait for a receive call. Bytes from earlier reads come first, followed by the new bytes.
private struct Backlog {
    private var bytes: Data
    private var offset = 0

    /// Takes over the buffer of `leftover`, so that arrived bytes are appended without a copy. With a copy for each
    /// read, a receive call for many bytes would take quadratic time.
    init(taking leftover: inout Data, arrived: Data?) {
        bytes = leftover
        leftover = Data()
        guard let arrived else { return }
        if bytes.count == 0 { bytes = arrived } else { bytes.append(arrived) }
    }

    mutating func take(_ count: Int) -> Data {
        defer { offset += count }
        if offset == 0, count == bytes.count { return bytes }
        let start = bytes.startIndex + offset
        // Copy the bytes. The indices of a slice would not begin at zero, but programs expect that they do.
        return Data(bytes[start..<(start + count)])
    }

    func rest() -> Data {
        offset == bytes.count ? Data() : offset == 0 ? bytes : Data(bytes[(bytes.startIndex + offset)...])
    }
}
