internal import CausewayProtocols
internal import CausewayTypes
internal import DequeModule
internal import FoundationEssentials

/// A channel's sending side: content that waits for the stack, and stack output that waits for the transport.
struct StackWriteSide: Sendable {
    /// The steps in which the outgoing stream ends.
    enum End: Sendable {
        case open
        /// The program has passed its final content to the channel.
        case requested
        /// The channel has reported that both directions have ended.
        case reported
    }

    /// The maximum number of bytes that may wait in the transport. Above this limit, the stack keeps further output.
    /// The stack's buffers then fill up, and the program has to wait.
    static let window = 256 << 10
    static let largestWrite = 64 << 10

    var messages: Deque<StackMessage> = []
    /// Content sent with the handshake. If the handshake fails, this content is sent again.
    private var early: [StackMessage] = []
    /// Send calls whose bytes the stack has accepted. A send call is complete once the transport has accepted `mark`
    /// bytes in total; `mark` is `nil` while some of the call's bytes are still in the stack.
    private var taken: Deque<(waiter: SendWaiter, mark: UInt64?)> = []
    private var producedByteCount: UInt64 = 0
    /// The number of bytes that wait in the transport.
    private(set) var unacknowledged = 0
    /// The number of bytes that the program has sent.
    private(set) var byteCount: UInt64 = 0
    var end = End.open

    /// Whether the transport may take more output.
    var hasRoom: Bool { unacknowledged < Self.window }

    /// Whether no message waits for the stack, and no send call waits for the transport.
    var isIdle: Bool { messages.isEmpty && taken.isEmpty }

    /// Whether no send call waits for the transport.
    var hasSettled: Bool { taken.isEmpty }

    // MARK: Attempts

    /// Resets the output of the previous attempt. Returns the waiters (completion handlers and tasks) of the send calls
    /// whose content is lost with that attempt.
    mutating func restart() -> [SendWaiter] {
        unacknowledged = 0
        if end == .reported { end = .requested }
        let lost = taken.map(\.waiter)
        taken = []
        return lost
    }

    /// Stops counting output that the transport has not accepted, because the transport accepts nothing more.
    mutating func giveUpOutput() { unacknowledged = 0 }

    /// Passes the queue's first messages to the stack if they are idempotent, to send them with the handshake.
    mutating func sendEarly(through stack: inout ProtocolStack) {
        takeBackEarly()
        while let next = messages.first, next.mayComeTwice, stack.sendEarly([UInt8](next.content)) {
            early.append(next)
            messages.removeFirst()
        }
    }

    /// Puts content sent with a failed handshake back into the queue, for the next attempt.
    mutating func takeBackEarly() {
        messages.prepend(contentsOf: early)
        early = []
    }

    /// Discards the copy of early content: the handshake has succeeded, or there will be no further handshake.
    mutating func forgetEarly() { early = [] }

    // MARK: Bytes

    /// Records content that the stack has accepted from the program.
    mutating func passed(_ count: Int) { byteCount += UInt64(count) }

    /// Adds a send call whose bytes the stack has accepted.
    mutating func settleLater(_ waiter: SendWaiter) { taken.append((waiter, nil)) }

    /// Records output that is about to be passed to the transport.
    mutating func produced(_ count: Int) {
        producedByteCount += UInt64(count)
        unacknowledged += count
    }

    /// Records output that the transport has accepted.
    mutating func accepted(_ count: Int) { unacknowledged = max(0, unacknowledged - count) }

    /// If the transport has accepted the bytes of the oldest send call, removes this call and returns its waiter (a
    /// completion handler or task).
    ///
    /// Before this call, the caller moves output from the stack to the transport, until the stack has no more output or
    /// ``window`` bytes wait in the transport.
    mutating func takeSettled() -> SendWaiter? {
        guard !taken.isEmpty else { return nil }
        if hasRoom {
            // Set the missing marks. A mark is the total number of bytes that the transport must accept before a send
            // call is complete. Only the newest send calls have no mark yet, so begin with them: if the peer does not
            // read, there are many calls with a mark.
            for index in taken.indices.reversed() {
                guard taken[index].mark == nil else { break }
                taken[index].mark = producedByteCount
            }
        }
        guard let first = taken.first, let mark = first.mark, mark + UInt64(unacknowledged) <= producedByteCount else {
            return nil
        }
        taken.removeFirst()
        return first.waiter
    }

    // MARK: Ends

    /// Removes all send calls. Returns their waiters (completion handlers and tasks), which the caller must complete.
    mutating func removeAll() -> [SendWaiter] {
        let waiters = taken.map(\.waiter) + messages.map(\.waiter)
        (taken, messages, early) = ([], [], [])
        return waiters
    }

    /// Detaches a cancelled task from its send call and returns the task's continuation; `nil` if the call is already
    /// complete. Removes content that the stack has not accepted.
    mutating func forget(ofTask id: UInt64) -> UnsafeContinuation<Failure?, Never>? {
        for index in messages.indices {
            guard case .task(id, let waiter) = messages[index].waiter else { continue }
            // If the cancelled send call has the final message, only detach the task. The message must still be sent,
            // because it ends the stream, and no later message can replace it.
            if messages[index].isFinal { messages[index].waiter = .unobserved } else { messages.remove(at: index) }
            return waiter
        }
        for index in taken.indices {
            guard case .task(id, let waiter) = taken[index].waiter else { continue }
            taken[index].waiter = .unobserved
            return waiter
        }
        return nil
    }
}

extension StackMessage {
    /// Whether the content may arrive twice because the program has declared it idempotent.
    fileprivate var mayComeTwice: Bool {
        guard case .idempotent = waiter else { return false }
        return !content.isEmpty && metadata.isEmpty && !isFinal && deadline == nil
    }
}
