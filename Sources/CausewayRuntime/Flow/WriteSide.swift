internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import DequeModule
internal import FoundationEssentials

/// A flow's sending side: the transport's readiness, the waiting content, and whether a thread is writing.
struct WriteSide: Sendable {
    /// The stages of ending the outgoing stream.
    enum End: UInt8, Sendable {
        case open
        /// The program has sent its final content, and the flow has not sent all of it yet.
        case requested
        /// The flow has sent the end of the stream to the peer.
        case sent
        /// The flow's owner was notified that both directions have ended.
        case reported
    }

    /// The maximum number of writes in a row before a task must suspend. The last of these writes cannot be immediate.
    private static var burstLimit: UInt8 { 32 }

    /// Whether the transport may accept bytes.
    var isWritable = true
    /// Whether content is collected until ``Flow/uncork()``.
    var isCorked = false
    /// The number of entries at the front of ``flight`` that the active write may be sending. It is `nil` while there
    /// is no active write. ``flight`` is the content in transmission.
    private(set) var activeEntryCount: UInt8?
    /// The number of immediate writes since a sending task was last suspended.
    private var burst: UInt8 = 0
    var end = End.open
    /// Content that must wait before its transmission can start. The queue is created only when it is first needed,
    /// because most connections never need it.
    var backlog: SendQueue<Outbound>?
    /// For each timer that drops expired messages, the time when it fires.
    var expiryTimes: [Duration] = []
    var flight = Flight()
    var byteCount: UInt64 = 0

    /// Whether a thread has claimed the sending direction. A claim is the exclusive right to use one direction of the
    /// transport.
    var isWriting: Bool { activeEntryCount != nil }

    /// Whether a new message may be sent before the backlog.
    ///
    /// This is so if there is no backlog, and if one gathered send (a system call that writes several pieces) can take
    /// more content.
    var letsPass: Bool { backlog == nil && flight.entries.count < Flow.gatherPieceLimit }

    /// Gives the current thread the exclusive right to write. It may send only the first `entryCount` entries in
    /// ``flight``.
    mutating func claim(entryCount: UInt8) {
        activeEntryCount = entryCount
        // Clear the flag before the write call. If the transport becomes writable during the call, the event loop sets
        // the flag again. A later clearing would undo this.
        isWritable = false
    }

    mutating func endClaim() { activeEntryCount = nil }

    /// Returns whether a task may write without suspending first. The result is `false` for one of every ``burstLimit``
    /// writes in a row. The suspension lets other tasks run.
    mutating func permitsTaskWrite() -> Bool {
        guard burst + 1 == Self.burstLimit else { return true }
        burst = 0
        return false
    }

    mutating func countTaskWrite() { burst += 1 }

    mutating func queue(_ entry: SendQueue<Outbound>.Entry) {
        if backlog == nil { backlog = SendQueue() }
        backlog?.append(entry)
    }

    /// Removes the backlog if it contains no message and no earlier message affects the next message. New messages can
    /// then bypass the queue.
    mutating func dropSpentBacklog() {
        if backlog?.letsPlainPass == true { backlog = nil }
    }

    /// Returns the time for which the caller must set a timer: the time when the next message expires. Returns `nil` if
    /// no message expires, or if an existing timer fires early enough.
    ///
    /// Records that a timer is set for the returned time.
    mutating func takeExpiryTime() -> Duration? {
        guard let next = backlog?.deadline, expiryTimes.allSatisfy({ next < $0 }) else { return nil }
        expiryTimes.append(next)
        return next
    }

    /// Detaches a cancelled task from its send and returns the task's continuation; `nil` if the send is already
    /// complete. Removes content whose transmission has not started.
    mutating func forget(ofTask id: UInt64) -> UnsafeContinuation<Failure?, Never>? {
        for index in flight.entries.indices {
            let entry = flight.entries[index]
            guard case .task(id, let waiter) = entry.outbound.waiter else { continue }
            // Keep the content if an active write may have read it. Also keep it if a part of it was sent, because the
            // rest must follow. Also keep an end of stream, because the program cannot send another one.
            if index < Int(activeEntryCount ?? 0) || entry.outbound.offset > 0 || entry.outbound.endsStream {
                flight.entries[index].outbound.waiter = .unobserved
            } else {
                flight.remove(at: index)
                entry.ticket?.progress = .failed
            }
            return waiter
        }
        return forgetQueued(ofTask: id)
    }

    private mutating func forgetQueued(ofTask id: UInt64) -> UnsafeContinuation<Failure?, Never>? {
        var found: UnsafeContinuation<Failure?, Never>?
        let entry = backlog?.withdraw { outbound in
            guard !outbound.endsStream, case .task(id, let waiter) = outbound.waiter else { return false }
            found = waiter
            return true
        }
        entry?.ticket?.progress = .failed
        if backlog?.isEmpty == true { backlog = nil }
        return entry == nil ? nil : found
    }

    /// Plans the next write to a stream, and gives the current thread the exclusive right to perform the write. The
    /// plan contains the content in ``flight``, starting with `head`.
    mutating func planStream(_ transport: Transport, _ head: Flight.Entry) -> WritePlan {
        guard head.outbound.remaining > 0 else {
            claim(entryCount: 1)
            return WritePlan(transport: transport, content: .end)
        }
        var byteCount = head.outbound.remaining
        if head.outbound.endsStream || flight.entries.count < 2 || flight.entries[1].outbound.remaining == 0 {
            claim(entryCount: 1)
            let content = WritePlan.Content.single(head.outbound.data, from: head.outbound.offset)
            return WritePlan(transport: transport, content: content, byteCount: byteCount)
        }
        var contents = [head.outbound.data]
        for entry in flight.entries.dropFirst() {
            guard contents.count < Flow.gatherPieceLimit, byteCount < Flow.gatherByteLimit else { break }
            // Stop at an entry that has no bytes left to send. Such an entry is the end of the stream or empty content.
            // A separate step handles it.
            guard entry.outbound.remaining > 0 else { break }
            contents.append(entry.outbound.data)
            byteCount += entry.outbound.remaining
            if entry.outbound.endsStream { break }
        }
        claim(entryCount: UInt8(contents.count))
        let content = WritePlan.Content.gathered(contents, from: head.outbound.offset)
        return WritePlan(transport: transport, content: content, byteCount: byteCount)
    }
}

/// Content whose transmission has started, in order.
struct Flight: Sendable {
    struct Entry: Sendable {
        var outbound: Outbound
        var ticket: MessageTicket?
        var endsMessage: Bool

        /// Whether the entry contains nothing that must be passed to the transport.
        var isEmpty: Bool { outbound.remaining == 0 && !outbound.endsStream && !outbound.isDatagram }
    }

    var entries: Deque<Entry> = []
    /// The number of bytes that the transport has not accepted yet.
    private(set) var byteCount = 0

    mutating func append(_ outbound: Outbound, _ ticket: MessageTicket? = nil, endsMessage: Bool = true) {
        byteCount += outbound.remaining
        entries.append(Entry(outbound: outbound, ticket: ticket, endsMessage: endsMessage))
    }

    /// Puts the rest of an interrupted write back at the front, before all other content.
    mutating func prepend(_ outbound: Outbound) {
        byteCount += outbound.remaining
        entries.prepend(Entry(outbound: outbound, ticket: nil, endsMessage: true))
    }

    mutating func remove(at index: Int) { byteCount -= entries.remove(at: index).outbound.remaining }

    /// Removes the first entry after it was sent or has failed.
    mutating func popFirst() -> Entry? {
        guard let entry = entries.popFirst() else { return nil }
        byteCount -= entry.outbound.remaining
        return entry
    }

    /// Keeps only the first `kept` entries. Removes and returns the others.
    mutating func removeAll(keeping kept: Int) -> [Entry] {
        // Copy the removed entries to an array. A slice would share the deque's storage, so `removeLast` would have to
        // copy the storage.
        let removed = Array(entries.dropFirst(kept))
        entries.removeLast(max(0, entries.count - kept))
        byteCount = entries.reduce(0) { $0 + $1.outbound.remaining }
        return removed
    }

    /// Marks up to `count` bytes at the start of the first entry as sent. Returns the number of these bytes; 0 if there
    /// is no entry.
    mutating func advanceFirst(by count: Int) -> Int {
        guard let head = entries.first else { return 0 }
        let taken = min(count, head.outbound.remaining)
        entries[0].outbound.offset += taken
        byteCount -= taken
        return taken
    }
}
