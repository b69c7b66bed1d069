internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials
internal import Synchronization

extension Flow {
    /// Reads that one pump does before others get their turn.
    private static var readBudget: Int { 16 }
    /// How much a read may take beyond what is waited for, so that small requests do not cost a system call each.
    static var readAhead: Int { 16 << 10 }
    /// From here on a block is handed over instead of copied.
    static var handOverByteCount: Int { 48 << 10 }

    // MARK: Requests

    /// Delivers at least `minimum` and at most `maximum` octets, fewer where the message or stream ends.
    package func receive(minimum: Int, maximum: Int, _ completion: @escaping ReceiveCompletion) {
        request(.callback(completion)) { $0.demand(minimum: minimum, maximum: maximum) }
    }

    /// Delivers one whole message.
    package func receiveMessage(_ completion: @escaping ReceiveCompletion) {
        request(.callback(completion)) { $0.demandMessage() }
    }

    /// Delivers all datagrams that have arrived, at least one.
    package func receiveBatch(_ completion: @escaping BatchCompletion) {
        request(.batch(completion)) { $0.demandMessage() }
    }

    func request(_ waiter: ReceiveWaiter, _ demand: (inout ReceiveQueue) -> Void) {
        var aftermath = Aftermath()
        var plan: ReadPlan?
        let delivery = state.withLock { state -> Delivery? in
            if let failure = state.failure {
                state.answer(waiter, ReceivedContent(error: failure), &aftermath)
            } else {
                demand(&state.receive)
                state.waiters.append(waiter)
                state.match(nil, &aftermath)
                plan = state.beginRead()
            }
            return state.delivery
        }
        aftermath.perform(delivery, on: loop)
        if let plan { pumpReads(plan) }
    }

    // MARK: Reading

    func readOnQueue() {
        let plan = state.withLock { state in
            state.isReadPosted = false
            return state.beginRead()
        }
        if let plan { pumpReads(plan) }
    }

    func pumpReads() {
        if let plan = state.withLock({ state in state.beginRead() }) { pumpReads(plan) }
    }

    /// Performs a claimed read, and those that follow it, within a budget.
    func pumpReads(_ first: ReadPlan) {
        var budget = Self.readBudget
        var plan: ReadPlan? = first
        while let current = plan.take() {
            budget -= 1
            let mayGoOn = budget > 0
            plan = current.isDatagram ? readDatagrams(current, mayGoOn) : readStream(current, mayGoOn)
        }
        // Others on this thread get their turn; the rest is read as if it had just become readable.
        if budget <= 0 { requeueRead() }
    }

    func requeueRead() {
        var aftermath = Aftermath()
        var onLoop = false
        let delivery = state.withLock { state -> Delivery? in
            guard state.hasReadWork else { return nil }
            if state.waiters.first?.isDirect == false, let delivery = state.delivery {
                state.postRead(self, on: delivery, &aftermath)
            } else {
                onLoop = true
            }
            return state.delivery
        }
        aftermath.perform(delivery, on: loop)
        if onLoop { loop.execute { self.pumpReads() } }
    }

    /// Returns the next read, if there is one to do and it may be done at once.
    private func readStream(_ plan: ReadPlan, _ mayGoOn: Bool) -> ReadPlan? {
        let scratch = ThreadLocal.scratch
        let length = min(plan.length, scratch.count)
        let result = plan.transport.read(into: UnsafeMutableRawBufferPointer(rebasing: scratch[..<length]))
        // Allocating is done before the lock is taken.
        var arrived: Arrived?
        if case .moved(let count) = result, count > 0 {
            arrived = plan.isForChannel ? .lent(count) : .data(Self.content(of: scratch, count))
        }
        return finishRead(plan) { state, aftermath in
            state.finishRead(result, length, arrived, &aftermath)
            return mayGoOn ? state.beginRead() : nil
        }
    }

    /// Ends a claim: what the read brought is delivered, and the transport closed if it was waited for.
    func finishRead(
        _ plan: ReadPlan, _ finish: (inout State, inout Aftermath) -> ReadPlan?
    ) -> ReadPlan? {
        var aftermath = Aftermath()
        var next: ReadPlan?
        var closing: Closing?
        var mustAwait = false
        var suspect: Transport?
        let delivery = state.withLock { state -> Delivery? in
            next = finish(&state, &aftermath)
            if next == nil, state.hasErrorPending { suspect = state.beginErrorCheck() }
            closing = state.takeClosing()
            mustAwait = !state.isReadable && next == nil
            return state.delivery
        }
        aftermath.perform(delivery, on: loop)
        if mustAwait, closing == nil, case .socket(_, let registration) = plan.transport {
            loop.await(.readable, of: registration)
        }
        closing?.perform(on: loop)
        if let suspect { checkError(of: suspect) }
        return next
    }

    /// Small content is copied out of the thread's block; large content takes the block with it.
    private static func content(of scratch: UnsafeMutableRawBufferPointer, _ count: Int) -> Data {
        guard count >= handOverByteCount, let base = scratch.baseAddress else {
            return Data(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
        }
        _ = ThreadLocal.takeScratch()
        return Data(bytesNoCopy: base, count: count, deallocator: .free)
    }
}

/// One read that was claimed.
struct ReadPlan {
    var transport: Transport
    var length: Int
    var isDatagram: Bool
    /// The oldest receive is that of the protocols above: they are lent what is in the thread's block.
    var isForChannel = false
}

/// What a read brought.
enum Arrived {
    case data(Data)
    /// So many octets at the beginning of the thread's block.
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
        return plan
    }

    mutating func finishRead(_ result: IOResult, _ length: Int, _ arrived: Arrived?, _ aftermath: inout Aftermath) {
        isReading = false
        guard closing == nil else { return }
        switch result {
        case .moved(0) where isWriting || claims > 0:
            // The kernel tells one call of a reset, and the next ones of an end: a cut would pass for a whole content.
            isEndDoubtful = true
        case .moved(0):
            receive.ended()
            match(nil, &aftermath)
        case .moved(let count):
            // After a large read more has often come meanwhile, and one more call costs little beside it.
            if count == length || hasEndPending || count >= Flow.handOverByteCount { isReadable = true }
            receivedByteCount &+= UInt64(count)
            receive.arrived(count)
            switch arrived {
            case .data(let data): match(data, &aftermath)
            case .lent(let count): lend(count, &aftermath)
            case nil: break
            }
        case .wouldBlock:
            break
        case .failed(let code):
            breakDown(Failure(errno: code), &aftermath)
        }
    }

    /// Has a doubtful end read again once nobody else uses the transport. Returns whether the caller must see to it.
    mutating func settleEnd() -> Bool {
        guard isEndDoubtful, !isWriting, claims == 0, closing == nil else { return false }
        isEndDoubtful = false
        isReadable = true
        return true
    }

    /// Lends the protocols above what arrived, where nothing stands before it.
    private mutating func lend(_ arrived: Int, _ aftermath: inout Aftermath) {
        guard mayTransfer, leftover.isEmpty, waiters.first?.takesLoans == true,
            case .bytes(_, let maximum) = receive.oldest, arrived <= maximum,
            case .content(_, let endsMessage, let endsStream) = receive.next(), let waiter = waiters.popFirst()
        else {
            return match(Data(UnsafeRawBufferPointer(rebasing: ThreadLocal.scratch[..<arrived])), &aftermath)
        }
        if case .stack(let channel, let attempt, _) = waiter {
            return aftermath.resume(.lent(channel, attempt, arrived, isFinal: endsStream))
        }
        var content = ReceivedContent(isFinal: endsStream, isComplete: endsMessage)
        content.lentCount = arrived
        answer(waiter, content, &aftermath)
    }

    /// Answers every request that can be answered now. `arrived` lies behind what is left over from before.
    mutating func match(_ arrived: Data?, _ aftermath: inout Aftermath) {
        guard mayTransfer else { return }
        if kind == .datagram { return matchDatagrams(&aftermath) }
        var pending = Backlog(taking: &leftover, arrived: arrived)
        while let outcome = receive.next(), let waiter = waiters.popFirst() {
            switch outcome {
            case .content(let count, let endsMessage, let endsStream):
                let data = count == 0 ? nil : pending.take(count)
                answer(
                    waiter, ReceivedContent(data: data, isFinal: endsStream, isComplete: endsMessage), &aftermath)
            case .nothingMore:
                let error = Failure(errno: Errno.noData)
                answer(waiter, ReceivedContent(isFinal: true, isComplete: true, error: error), &aftermath)
            }
        }
        leftover = pending.rest()
    }
}

/// Octets that were left over, and those that arrived behind them.
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
