internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// Performs the reads and writes that the protocol stack requests, and handles their results.
extension StackChannel {
    func perform(_ read: Read) {
        let handler: ArrivalHandler = { arrival, attempt in self.arrived(arrival, attempt) }
        flow.request(.stack(handler, attempt: read.attempt, isDirect: read.isDirect)) { queue in
            if let length = read.length { queue.demand(minimum: 1, maximum: length) } else { queue.demandMessage() }
        }
    }

    /// Handles a ``Read``'s result.
    private func arrived(_ arrival: Arrival, _ attempt: UInt64) {
        switch arrival {
        case .content(let content): arrived(content, attempt)
        case .lent(let count, let isFinal): arrived(lent: count, isFinal, attempt)
        }
    }

    private func arrived(_ content: ReceivedContent, _ attempt: UInt64) {
        change { state in
            guard state.attempt.number == attempt else { return }
            state.receiving.isReadOutstanding = false
            state.take(content)
        }
    }

    /// Handles the received bytes of a ``Read``. The bytes are at the start of the thread's scratch block.
    private func arrived(lent count: Int, _ isFinal: Bool, _ attempt: UInt64) {
        let isOnLoop = flow.loop.isCurrent
        let now = System.now
        var executor: Executor?
        var answer = Answer.nothing
        var read: Read?
        let first = state.withLock { state -> Work? in
            if state.attempt.number == attempt {
                state.receiving.isReadOutstanding = false
                let bytes = UnsafeRawBufferPointer(rebasing: ThreadLocal.scratch[..<count])
                answer = state.take(lent: bytes, isFinal: isFinal, now)
            }
            // A turn is a round of the channel's work. It may call the program's code, so it must not run inside one of
            // the program's callbacks. The flow does not read for the stack inside such a callback. So if this thread
            // processes the queue's list of callbacks, this call comes from that list itself, and a turn can run here.
            if !state.turn.isRunning, state.executor.mayTurn(isOnLoop: isOnLoop) {
                if answer.isForTask || answer.isNothing { read = beginRead(&state) }
                return read == nil ? takeWork(&state, now, answer) : nil
            }
            if !answer.isNothing { state.turn.answers.append(answer) }
            guard !state.turn.isRunning else { return nil }
            executor = state.executor
            return nil
        }
        if let read {
            perform(read)
            answer.perform()
            endTurn(0, now)
        } else {
            proceed(first, now)
            arrange(executor)
        }
    }

    /// Writes as many bytes as the transport accepts at once, and queues the rest.
    ///
    /// - Returns: The number of bytes that the caller must now subtract from `unacknowledged`. The result is 0 if
    ///   ``wrote(_:_:_:)`` subtracts them later.
    func write(_ content: Write) -> Int {
        guard !content.endsStream, let piece = content.bytes.onlyPiece else {
            flow.send(outbound(Data(content.bytes), content.attempt, endsStream: content.endsStream))
            return 0
        }
        return piece.withUnsafeBytes { write($0, content.attempt) }
    }

    /// Writes the first `count` bytes of the ``transit`` block to the transport.
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

    /// The second half of the thread's scratch block. It stores content that the stack has processed.
    ///
    /// The first half remains free for the bytes of a read from the transport, and it is large enough for them.
    static var transit: UnsafeMutableRawBufferPointer {
        let block = ThreadLocal.scratch
        return UnsafeMutableRawBufferPointer(rebasing: block[(block.count / 2)...])
    }

    private func wrote(_ count: Int, _ failure: Failure?, _ attempt: UInt64) {
        change { state in
            // Do not count the bytes of a failed write as sent. The write also fails the flow, and the flow's owner
            // then reports the failure to this channel.
            guard state.attempt.number == attempt, failure == nil || state.phase.isClosing else { return }
            if let failure { return state.abandonClosing(failure) }
            state.sending.accepted(count)
        }
    }
}
