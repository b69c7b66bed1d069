internal import CausewayProtocols
internal import CausewayTypes
internal import DequeModule
internal import FoundationEssentials

/// A channel's sending side: content that waits for the stack, and stack output that waits for the transport.
struct StackWriteSide: Sendable {
    /// The state of the sending direction's end.
    enum End: Sendable {
        case open
        /// The program has passed its final content.
        case requested
        /// The end of both directions was reported.
        case reported
    }

    /// The maximum number of bytes that may wait in the transport. Above this limit the stack keeps its output, its
    /// buffers fill up, and the program has to wait.
    static let window = 256 << 10
    static let largestWrite = 64 << 10

    var messages: Deque<StackMessage> = []
    /// Content sent with the handshake. If the handshake fails, it is sent again.
    private var early: [StackMessage] = []
    /// Sends whose bytes the stack has accepted. A send is complete once the transport has accepted `mark` bytes in
    /// total; `mark` is `nil` while some of the send's bytes are still in the stack.
    private var taken: Deque<(waiter: SendWaiter, mark: UInt64?)> = []
    private var producedByteCount: UInt64 = 0
    /// The number of bytes that wait in the transport.
    private(set) var unacknowledged = 0
    /// The number of bytes that the program has sent.
    private(set) var byteCount: UInt64 = 0
    var end = End.open

    /// Whether the transport may take more output.
    var hasRoom: Bool { unacknowledged < Self.window }

    /// Whether no message waits for the stack, and no send waits for the transport.
    var isIdle: Bool { messages.isEmpty && taken.isEmpty }

    /// Whether no send waits for the transport.
    var hasSettled: Bool { taken.isEmpty }

    // MARK: Attempts

    /// Resets the output of the previous attempt. Returns the sends whose content is lost with that attempt.
    mutating func restart() -> [SendWaiter] {
        unacknowledged = 0
        if end == .reported { end = .requested }
        let lost = taken.map(\.waiter)
        taken = []
        return lost
    }

    /// Stops counting output that the transport has not accepted, because it accepts nothing more.
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

    /// Discards the copy of early content: the handshake has succeeded, or no other handshake follows.
    mutating func forgetEarly() { early = [] }

    // MARK: Bytes

    /// Records content that the stack has accepted from the program.
    mutating func passed(_ count: Int) { byteCount += UInt64(count) }

    /// Adds a send whose bytes the stack has accepted.
    mutating func settleLater(_ waiter: SendWaiter) { taken.append((waiter, nil)) }

    /// Records output that is about to be passed to the transport.
    mutating func produced(_ count: Int) {
        producedByteCount += UInt64(count)
        unacknowledged += count
    }

    /// Records output that the transport has accepted.
    mutating func accepted(_ count: Int) { unacknowledged = max(0, unacknowledged - count) }

    /// Removes and returns the oldest send if the transport has accepted its bytes. Before this call, the caller moves
    /// output to the transport until the stack has no more or ``window`` bytes are waiting there.
    mutating func takeSettled() -> SendWaiter? {
        guard !taken.isEmpty else { return nil }
        if hasRoom {
            // Only the newest sends have no mark yet. With a peer that does not read, the others are many.
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

    /// Removes all sends, and returns the waiters to complete.
    mutating func removeAll() -> [SendWaiter] {
        let waiters = taken.map(\.waiter) + messages.map(\.waiter)
        (taken, messages, early) = ([], [], [])
        return waiters
    }

    /// Detaches a cancelled task's send and returns its continuation; `nil` if the send is already complete. Removes
    /// content that the stack has not accepted.
    mutating func forget(ofTask id: UInt64) -> UnsafeContinuation<Failure?, Never>? {
        for index in messages.indices {
            guard case .task(id, let waiter) = messages[index].waiter else { continue }
            // Keep the final message: it ends the stream, and later sends already fail.
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
    /// Whether the content may arrive twice because the program sent it as idempotent.
    fileprivate var mayComeTwice: Bool {
        guard case .idempotent = waiter else { return false }
        return !content.isEmpty && metadata.isEmpty && !isFinal && deadline == nil
    }
}
