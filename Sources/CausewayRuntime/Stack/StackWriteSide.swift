internal import CausewayProtocols
internal import CausewayTypes
internal import DequeModule
internal import FoundationEssentials

/// The sending side of a channel. It holds two things: content that waits for the stack, and output of the stack that
/// waits for the transport.
struct StackWriteSide: Sendable {
    /// The states through which the sending direction ends.
    enum End: Sendable {
        case open
        /// The program has passed its final content to the channel.
        case requested
        /// The channel has reported the end of both directions.
        case reported
    }

    /// The maximum number of bytes that may wait in the transport.
    ///
    /// Above this limit, the stack keeps its further output. The stack's buffers then fill up, so the program has to
    /// wait.
    static let window = 256 << 10
    static let largestWrite = 64 << 10

    var messages: Deque<StackMessage> = []
    /// Content that was sent early, together with the handshake. If the handshake fails, this content is sent again.
    private var early: [StackMessage] = []
    /// The pending send calls whose bytes the stack has accepted.
    ///
    /// A send call is complete when the transport has accepted `mark` bytes in total. `mark` is `nil` while the stack
    /// still holds some of this call's bytes.
    private var taken: Deque<(waiter: SendWaiter, mark: UInt64?)> = []
    private var producedByteCount: UInt64 = 0
    /// The number of bytes that wait in the transport.
    private(set) var unacknowledged = 0
    /// The number of bytes that the program has sent.
    private(set) var byteCount: UInt64 = 0
    var end = End.open

    /// Whether the transport has room for more output from the protocol stack.
    var hasRoom: Bool { unacknowledged < Self.window }

    /// Whether nothing waits: no message waits for the stack, and no send call waits for the transport.
    var isIdle: Bool { messages.isEmpty && taken.isEmpty }

    /// Whether the transport has processed the content of all send calls that the stack has taken.
    var hasSettled: Bool { taken.isEmpty }

    // MARK: Attempts

    /// Resets the output for a new attempt. Content that the previous attempt has already taken is lost. Returns the
    /// waiters of the affected send calls, which are completion handlers and tasks.
    mutating func restart() -> [SendWaiter] {
        unacknowledged = 0
        if end == .reported { end = .requested }
        let lost = taken.map(\.waiter)
        taken = []
        return lost
    }

    /// Gives up the output that waits for the transport, because the transport accepts nothing more. Sets the number of
    /// waiting bytes to 0.
    mutating func giveUpOutput() { unacknowledged = 0 }

    /// Passes messages from the front of the queue to the stack, so that they are sent with the handshake. Stops at the
    /// first message that is not idempotent.
    mutating func sendEarly(through stack: inout ProtocolStack) {
        takeBackEarly()
        while let next = messages.first, next.mayComeTwice, stack.sendEarly([UInt8](next.content)) {
            early.append(next)
            messages.removeFirst()
        }
    }

    /// The handshake has failed. Puts the content that was sent with it back into the queue, for the next attempt.
    mutating func takeBackEarly() {
        messages.prepend(contentsOf: early)
        early = []
    }

    /// Discards the copy of the early content. Called when the handshake has succeeded, or when no further handshake
    /// will follow.
    mutating func forgetEarly() { early = [] }

    // MARK: Bytes

    /// Counts content that the stack has accepted from the program.
    mutating func passed(_ count: Int) { byteCount += UInt64(count) }

    /// Adds a send call that must wait for the transport. The stack has already accepted its bytes.
    mutating func settleLater(_ waiter: SendWaiter) { taken.append((waiter, nil)) }

    /// Records output that is about to be passed to the transport.
    mutating func produced(_ count: Int) {
        producedByteCount += UInt64(count)
        unacknowledged += count
    }

    /// Records output that the transport has accepted.
    mutating func accepted(_ count: Int) { unacknowledged = max(0, unacknowledged - count) }

    /// If the transport has accepted all bytes of the oldest send call, removes this call and returns its waiter. The
    /// waiter is a completion handler or a task.
    ///
    /// Before this call, the caller moves output from the stack to the transport. It stops when the stack has no more
    /// output, or when ``window`` bytes wait in the transport.
    mutating func takeSettled() -> SendWaiter? {
        guard !taken.isEmpty else { return nil }
        if hasRoom {
            // Set the missing marks. A send call's mark is the total number of bytes that the transport must accept
            // before the call is complete. Only the newest send calls have no mark yet, so begin with them. If the peer
            // does not read, there are many older calls that already have a mark.
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

    /// Removes all send calls. Returns the completion handlers and tasks that wait for them.
    ///
    /// The caller must complete these.
    mutating func removeAll() -> [SendWaiter] {
        let waiters = taken.map(\.waiter) + messages.map(\.waiter)
        (taken, messages, early) = ([], [], [])
        return waiters
    }

    /// Removes a cancelled task from its send call, and returns the task's continuation. Returns `nil` if the call is
    /// already complete. Content that the stack has not accepted yet is removed.
    mutating func forget(ofTask id: UInt64) -> UnsafeContinuation<Failure?, Never>? {
        for index in messages.indices {
            guard case .task(id, let waiter) = messages[index].waiter else { continue }
            // If the cancelled send call has the final message, detach only the task. The message must still be sent,
            // because it ends the stream. No later message can replace it.
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
    /// Whether the peer may receive the content twice. The program must have declared the content idempotent.
    fileprivate var mayComeTwice: Bool {
        guard case .idempotent = waiter else { return false }
        return !content.isEmpty && metadata.isEmpty && !isFinal && deadline == nil
    }
}
