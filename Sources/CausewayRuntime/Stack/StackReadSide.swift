internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import DequeModule
internal import FoundationEssentials

/// A receive call that waits for content.
struct StackReceive: Sendable {
    enum Receiver: Sendable {
        case callback(ReceiveCompletion)
        /// A suspended task. The number identifies the task's request when the task is cancelled.
        case task(UInt64, UnsafeContinuation<ReceivedContent, Never>)
    }

    var minimum: Int
    var maximum: Int
    var receiver: Receiver

    func answer(_ content: consuming ReceivedContent) -> StackChannel.Answer {
        switch receiver {
        case .callback(let completion): .received(completion, consume content)
        case .task(_, let continuation): .taskReceived(continuation, consume content)
        }
    }
}

/// The receiving side of a channel. It contains the pending read, the waiting receive calls, and the content for the
/// program.
struct StackReadSide: Sendable {
    static let largestRead = 64 << 10

    /// Whether a read from the transport is in progress.
    var isReadOutstanding = false
    var transportHasEnded = false
    var waiters: Deque<StackReceive> = []
    var inbox = StackInbox()
    /// The content message that a control message has interrupted.
    private var interrupted: StackInbox?
    /// Content for the program that was still in the protocol stack when the transport broke.
    private var rest: Deque<MessageChunk> = []
    /// The number of bytes that were delivered to the program.
    var byteCount: UInt64 = 0

    /// Whether the stack has ended and the program has received all of its remaining content.
    var hasDelivered: Bool { rest.isEmpty && inbox.content.isEmpty && !inbox.isWhole }

    /// Resets the state of the previous attempt's transport. Drops the unfinished message of that attempt.
    mutating func restart() {
        (isReadOutstanding, transportHasEnded) = (false, false)
        (inbox, interrupted) = (StackInbox(), nil)
    }

    /// Stores content that the protocol stack has produced before its end. The content stays stored until the program
    /// receives it.
    mutating func keep(_ chunk: MessageChunk) { rest.append(chunk) }

    /// Removes and returns stored content (see ``keep(_:)``), at most `room` bytes. `nil` if none is left.
    mutating func takeKept(atMost room: Int) -> MessageChunk? {
        guard var first = rest.popFirst() else { return nil }
        guard first.bytes.count > room else { return first }
        let piece = first.take(atMost: room)
        rest.prepend(first)
        return piece
    }

    /// Adds content to the message being received. A control message may interrupt a content message. After the control
    /// message, the content message continues (RFC 6455 §5.4).
    mutating func accept(_ chunk: MessageChunk) {
        if chunk.kind != .content, inbox.kind == .content {
            interrupted = chunk.kind == .control ? inbox : nil
            inbox = StackInbox(kind: chunk.kind)
        }
        inbox.accept(chunk)
    }

    /// If the oldest receive call can complete now, removes it and returns its result. Otherwise returns `nil`.
    mutating func takeAnswer() -> StackChannel.Answer? {
        guard let waiter = waiters.first else { return nil }
        if inbox.hasEnded {
            waiters.removeFirst()
            let error = Failure(errno: Errno.noData)
            return waiter.answer(ReceivedContent(isFinal: true, isComplete: true, error: error))
        }
        guard inbox.isWhole || inbox.content.count >= waiter.minimum else { return nil }
        waiters.removeFirst()
        return waiter.answer(takeContent(atMost: waiter.maximum))
    }

    private mutating func takeContent(atMost limit: Int) -> ReceivedContent {
        let isAll = inbox.content.count <= limit
        // Deliver a truncated message as incomplete. The following receive call gets the end of the stream.
        let isCutOff = isAll && inbox.progress == .cutOff && !inbox.content.isEmpty
        let isEnd = isAll && inbox.isWhole && !isCutOff
        // Copy the bytes. A slice would keep its indices in the larger data, but programs expect indices that begin at
        // zero.
        let data = isAll ? inbox.content : Data(inbox.content.prefix(limit))
        byteCount += UInt64(data.count)
        let content = ReceivedContent(
            data: data.isEmpty ? nil : data, isFinal: isEnd && inbox.isFinal, isComplete: isEnd,
            metadata: inbox.metadata)
        if isEnd {
            inbox = interrupted.take() ?? StackInbox(progress: inbox.isFinal ? .ended : .partial)
        } else if isCutOff {
            inbox = StackInbox(progress: .final)
        } else {
            inbox.content = isAll ? Data() : Data(inbox.content.dropFirst(limit))
        }
        return content
    }

    /// Removes all receive calls, and returns a result for each. All of these calls fail with `failure`. The first
    /// result also contains the content that has arrived.
    mutating func end(with failure: Failure) -> [StackChannel.Answer] {
        guard !waiters.isEmpty else { return [] }
        let content = inbox.content.isEmpty ? interrupted?.content ?? Data() : inbox.content
        var rest: Data? = content.isEmpty ? nil : content
        (inbox, interrupted) = (StackInbox(), nil)
        let answers = waiters.map { waiter in
            waiter.answer(ReceivedContent(data: rest.take(), error: failure))
        }
        waiters = []
        return answers
    }

    /// Removes a cancelled task's receive call and returns the task's continuation; `nil` if the call is already
    /// complete.
    mutating func forget(ofTask id: UInt64) -> UnsafeContinuation<ReceivedContent, Never>? {
        for index in waiters.indices {
            guard case .task(id, let continuation) = waiters[index].receiver else { continue }
            waiters.remove(at: index)
            return continuation
        }
        return nil
    }
}

/// The message that is currently being received.
struct StackInbox: Sendable {
    enum Progress: Sendable {
        case partial
        /// The whole message has arrived.
        case whole
        /// The message has arrived completely, and the stream has ended after it.
        case final
        /// The stream has ended within the message.
        case cutOff
        /// The end of the stream was delivered. No content follows.
        case ended
    }

    var content = Data()
    var metadata: [any StageMetadata] = []
    var kind = MessageChunk.Kind.content
    var progress = Progress.partial

    /// Whether the message is over, so that it gets no more content.
    var isWhole: Bool {
        switch progress {
        case .partial, .ended: false
        case .whole, .final, .cutOff: true
        }
    }

    var isFinal: Bool {
        switch progress {
        case .partial, .whole, .ended: false
        case .final, .cutOff: true
        }
    }

    var hasEnded: Bool { progress == .ended }

    var isUntouched: Bool { progress == .partial && content.isEmpty && metadata.isEmpty }

    mutating func accept(_ chunk: MessageChunk) {
        content.append(chunk.bytes)
        if !chunk.metadata.isEmpty { metadata = chunk.metadata }
        progress =
            switch (chunk.endsMessage, chunk.isFinal) {
            case (false, false): .partial
            case (true, false): .whole
            case (true, true): .final
            case (false, true): .cutOff
            }
    }
}
