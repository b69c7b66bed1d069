internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// What turns do with the transport, and what it answers.
extension StackChannel {
    func perform(_ read: Read) {
        flow.request(.stack(self, attempt: read.attempt, isDirect: read.isDirect)) { queue in
            if isDatagram { queue.demandMessage() } else { queue.demand(minimum: 1, maximum: read.length) }
        }
    }

    /// The flow answers a ``Read``.
    func arrived(_ content: ReceivedContent, _ attempt: UInt64) {
        change { state in
            guard state.attempt == attempt else { return }
            state.isReadOutstanding = false
            state.take(content)
        }
    }

    /// The flow answers a ``Read`` with octets at the beginning of the thread's block.
    func arrived(lent count: Int, _ isFinal: Bool, _ attempt: UInt64) {
        let isOnLoop = flow.loop.isCurrent
        let now = Machine.now
        var place: Place?
        let first = state.withLock { state -> Work? in
            if state.attempt == attempt {
                state.isReadOutstanding = false
                let bytes = UnsafeRawBufferPointer(rebasing: ThreadLocal.scratch[..<count])
                state.take(lent: bytes, isFinal: isFinal, now)
            }
            guard !state.isTurning else { return nil }
            // Reading on the program's queue is never done from within its code: a turn may call that code.
            if state.delivery?.isDraining ?? (state.isDirect && isOnLoop) { return takeWork(&state, now) }
            place = state.isDirect ? .loop : .queue
            return nil
        }
        proceed(first, now)
        arrange(place)
    }

    /// Writes at once what the transport takes at once; the rest is queued.
    ///
    /// - Returns: How much was taken and is to be counted.
    func write(_ content: Write) -> Int {
        guard !content.endsStream, let piece = content.octets.onlyPiece else {
            flow.send(outbound(content))
            return 0
        }
        switch piece.withUnsafeBytes({ flow.writeNow(lent: $0) }) {
        case .done(nil): return piece.count
        case .done(let failure): wrote(piece.count, failure, content.attempt)
        case .partial(let sent, let retry): flow.continueWrite(outbound(content, from: sent), retry)
        case .unclaimed, .postponed: flow.send(outbound(content))
        }
        return 0
    }

    private func outbound(_ content: Write, from offset: Int = 0) -> Outbound {
        let (count, attempt) = (content.octets.count, content.attempt)
        let waiter = SendWaiter.channel { failure in self.wrote(count, failure, attempt) }
        return Outbound(Data(content.octets), offset: offset, endsStream: content.endsStream, waiter: waiter)
    }

    private func wrote(_ count: Int, _ failure: Failure?, _ attempt: UInt64) {
        change { state in
            // What failed here fails the flow as well, whose owner tells the channel: until then nothing counts as sent.
            guard state.attempt == attempt, failure == nil || state.phase == .closing else { return }
            state.unacknowledged = max(0, state.unacknowledged - count)
        }
    }
}
