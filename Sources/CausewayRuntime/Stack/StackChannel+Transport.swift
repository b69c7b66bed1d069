internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// What turns do with the transport, and what it answers.
extension StackChannel {
    func perform(_ read: Read) {
        let handler: ArrivalHandler = { arrival, attempt in self.arrived(arrival, attempt) }
        flow.request(.stack(handler, attempt: read.attempt, isDirect: read.isDirect)) { queue in
            if isDatagram { queue.demandMessage() } else { queue.demand(minimum: 1, maximum: read.length) }
        }
    }

    /// The flow answers a ``Read``.
    private func arrived(_ arrival: Arrival, _ attempt: UInt64) {
        switch arrival {
        case .content(let content): arrived(content, attempt)
        case .lent(let count, let isFinal): arrived(lent: count, isFinal, attempt)
        }
    }

    private func arrived(_ content: ReceivedContent, _ attempt: UInt64) {
        change { state in
            guard state.attempt == attempt else { return }
            state.isReadOutstanding = false
            state.take(content)
        }
    }

    /// The flow answers a ``Read`` with bytes at the beginning of the thread's block.
    private func arrived(lent count: Int, _ isFinal: Bool, _ attempt: UInt64) {
        let isOnLoop = flow.loop.isCurrent
        let now = System.now
        var place: Place?
        var answer = Answer.nothing
        var read: Read?
        let first = state.withLock { state -> Work? in
            if state.attempt == attempt {
                state.isReadOutstanding = false
                let bytes = UnsafeRawBufferPointer(rebasing: ThreadLocal.scratch[..<count])
                answer = state.take(lent: bytes, isFinal: isFinal, now)
            }
            // Reading on the program's queue is never done from within its code: a turn may call that code.
            if !state.isTurning, state.delivery?.isDraining ?? (state.isDirect && isOnLoop) {
                if answer.isForTask || answer.isNothing { read = beginRead(&state) }
                return read == nil ? takeWork(&state, now, answer) : nil
            }
            if !answer.isNothing { state.answers.append(answer) }
            guard !state.isTurning else { return nil }
            place = state.isDirect ? .loop : .queue
            return nil
        }
        if let read {
            perform(read)
            answer.perform()
            endTurn(0, now)
        } else {
            proceed(first, now)
            arrange(place)
        }
    }

    /// Writes at once what the transport takes at once; the rest is queued.
    ///
    /// - Returns: How much was taken and is to be counted.
    func write(_ content: Write) -> Int {
        guard !content.endsStream, let piece = content.bytes.onlyPiece else {
            flow.send(outbound(Data(content.bytes), content.attempt, endsStream: content.endsStream))
            return 0
        }
        return piece.withUnsafeBytes { write($0, content.attempt) }
    }

    /// The same for what lies in the thread's block.
    func write(loan count: Int, _ attempt: UInt64) -> Int {
        write(UnsafeRawBufferPointer(rebasing: Self.transit[..<count]), attempt)
    }

    private func write(_ bytes: UnsafeRawBufferPointer, _ attempt: UInt64) -> Int {
        switch flow.writeNow(lent: bytes) {
        case .done(nil): return bytes.count
        case .done(let failure): wrote(bytes.count, failure, attempt)
        case .partial(let sent, let retry): flow.continueWrite(outbound(Data(bytes), attempt, from: sent), retry)
        case .unclaimed, .postponed: flow.send(outbound(Data(bytes), attempt))
        }
        return 0
    }

    private func outbound(_ content: Data, _ attempt: UInt64, from offset: Int = 0, endsStream: Bool = false)
        -> Outbound
    {
        let count = content.count
        let waiter = SendWaiter.channel { failure in self.wrote(count, failure, attempt) }
        return Outbound(content, offset: offset, endsStream: endsStream, waiter: waiter)
    }

    /// The part of the thread's block into which nothing is read for a stack: it asks for less. For content on its way through.
    static var transit: UnsafeMutableRawBufferPointer {
        let block = ThreadLocal.scratch
        return UnsafeMutableRawBufferPointer(rebasing: block[(block.count / 2)...])
    }

    private func wrote(_ count: Int, _ failure: Failure?, _ attempt: UInt64) {
        change { state in
            // What failed here fails the flow as well, whose owner tells the channel: until then nothing counts as sent.
            guard state.attempt == attempt, failure == nil || state.phase == .closing else { return }
            state.unacknowledged = max(0, state.unacknowledged - count)
        }
    }
}
