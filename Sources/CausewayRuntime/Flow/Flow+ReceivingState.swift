internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// One read that was claimed.
struct ReadPlan {
    var transport: Transport
    var length: Int
    var isDatagram: Bool
    /// The oldest receive is that of the protocols above: they are lent what is in the thread's block.
    var isForChannel = false
    /// There is one receive, that of a task or of a closure of the program's.
    var isForOne = false
}

/// What a read brought.
enum Arrived {
    case data(Data)
    /// So many bytes at the beginning of the thread's block.
    case lent(Int)
}

extension Flow.State {
    mutating func beginRead() -> ReadPlan? {
        guard hasReadWork, let transport else { return nil }
        if case .peer = transport { return nil }
        isReading = true
        // Cleared before the call: an edge that comes during it must not be lost.
        isReadable = false
        let length = min(max(receive.wanted, Flow.readAhead), 256 << 10)
        var plan = ReadPlan(transport: transport, length: length, isDatagram: kind == .datagram)
        if waiters.first?.takesLoans == true { plan.isForChannel = true }
        plan.isForOne = waiters.first?.takesAll == true && waiters.rest.isEmpty
        return plan
    }

    /// The read that a request does itself. Where each finds something at once, a fast peer and its task would keep the loop's thread to
    /// themselves: now and then others get their turn, and the caller calls ``Flow/requeueRead()``.
    mutating func beginRead(onLoop isOnLoop: @autoclosure () -> Bool, _ isPostponed: inout Bool) -> ReadPlan? {
        guard hasReadWork else { return nil }
        readBurst += 1
        guard readBurst >= Flow.readBudget else { return beginRead() }
        readBurst = 0
        isPostponed = isOnLoop()
        return isPostponed ? nil : beginRead()
    }

    mutating func finishRead(_ result: IOResult, _ length: Int, _ arrived: Arrived?, _ deferred: inout DeferredActions)
    {
        isReading = false
        guard closing == nil else { return }
        switch result {
        case .moved(0) where isDraining:
            finishDraining(&deferred)
        case .wouldBlock where isDraining:
            remainder = .content
            finishDraining(&deferred)
        case .moved(0) where isWriting || claims > 0 || isPipeBroken:
            // The kernel tells one call of a reset, and the next ones of an end: a cut would pass for a whole content.
            isEndDoubtful = true
        case .moved(0):
            receive.ended()
            match(nil, &deferred)
        case .moved(let count):
            noteRead(count, length)
            receive.arrived(count)
            switch arrived {
            case .data(let data): match(data, &deferred)
            case .lent(let count): lend(count, &deferred)
            case nil: break
            }
        case .wouldBlock:
            break
        case .failed(let code) where waiters.isEmpty && !leftover.isEmpty:
            lose(Failure(errno: code), isBehindEnd: false, &deferred)
        case .failed(let code):
            breakDown(Failure(errno: code), &deferred)
        }
    }

    /// Ends a claim where one receive waits for all of what came, and nothing stands before it: the caller answers it.
    mutating func finishRead(forOne count: Int, _ length: Int) -> Bool {
        guard closing == nil, mayTransfer, !hasErrorPending, !isPipeBroken, waiters.rest.isEmpty,
            waiters.first?.takesAll == true,
            receive.passes(count)
        else { return false }
        isReading = false
        noteRead(count, length)
        return true
    }

    private mutating func noteRead(_ count: Int, _ length: Int) {
        // After a large read more has often come meanwhile, and one more call costs little beside it.
        // Who hears nothing of what comes must look.
        if count == length || hasEndPending || count >= Flow.handOverByteCount || arrivalInterest == .nothing {
            isReadable = true
        }
        receivedByteCount &+= UInt64(count)
    }

    /// Has a doubtful end read again once nobody else uses the transport. Returns whether the caller must see to it.
    mutating func settleEnd() -> Bool {
        guard isEndDoubtful, !isWriting, claims == 0, closing == nil else { return false }
        isEndDoubtful = false
        isReadable = true
        return true
    }

    /// Lends the protocols above what arrived, where nothing stands before it.
    private mutating func lend(_ arrived: Int, _ deferred: inout DeferredActions) {
        guard mayTransfer, leftover.isEmpty, waiters.first?.takesLoans == true,
            case .bytes(_, let maximum) = receive.oldest, arrived <= maximum,
            case .content(_, let endsMessage, let endsStream) = receive.next(), let waiter = waiters.popFirst()
        else {
            return match(Data(UnsafeRawBufferPointer(rebasing: ThreadLocal.scratch[..<arrived])), &deferred)
        }
        if case .stack(let channel, let attempt, _) = waiter {
            return deferred.resume(.lent(channel, attempt, arrived, isFinal: endsStream))
        }
        var content = ReceivedContent(isFinal: endsStream, isComplete: endsMessage)
        content.lentCount = arrived
        answer(waiter, content, &deferred)
    }

    /// Answers every request that can be answered now. `arrived` lies behind what is left over from before.
    mutating func match(_ arrived: Data?, _ deferred: inout DeferredActions) {
        guard mayTransfer else { return }
        if kind == .datagram { return matchDatagrams(&deferred) }
        if arrived == nil, receive.isIdle { return }
        var pending = Backlog(taking: &leftover, arrived: arrived)
        while let outcome = receive.next(), let waiter = waiters.popFirst() {
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
        leftover = pending.rest()
        if receive.hasEnded { noteEnds(&deferred) }
    }
}

/// Bytes that were left over, and those that arrived behind them.
private struct Backlog {
    private var bytes: Data
    private var offset = 0

    /// Takes what was left over out of its place, so that it grows there: copied each time, a long exact receive would cost the
    /// square of its length.
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
        // Programs index from zero.
        return Data(bytes[start..<(start + count)])
    }

    func rest() -> Data {
        offset == bytes.count ? Data() : offset == 0 ? bytes : Data(bytes[(bytes.startIndex + offset)...])
    }
}
