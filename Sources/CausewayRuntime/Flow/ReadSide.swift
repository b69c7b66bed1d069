internal import CausewayProtocols
internal import CausewaySystem
internal import FoundationEssentials

/// A flow's receiving side: the transport's readiness, the waiting receive calls, and whether a thread is reading.
struct ReadSide: Sendable {
    /// Signs that the peer's stream may have ended or failed. Later reads must confirm them.
    struct Signs: OptionSet, Sendable {
        let rawValue: UInt8

        /// The loop has reported the end of the peer's stream. Even if a read returns fewer bytes than requested, that
        /// end may still be unread.
        static let end = Signs(rawValue: 1 << 0)
        /// The end of the stream was read while another thread used the transport.
        static let doubtfulEnd = Signs(rawValue: 1 << 1)
        /// A failure was reported while a read was active.
        static let error = Signs(rawValue: 1 << 2)
        /// A write failed with EPIPE while a read was active.
        static let brokenPipe = Signs(rawValue: 1 << 3)
    }

    /// Whether the transport may have content.
    var isReadable = false
    /// Whether a thread has the claim to read. A claim is the exclusive right to use one direction of the transport.
    var isReading = false
    /// Whether a read waits for its turn on the program's queue.
    var isPosted = false
    var signs: Signs = []
    var remainder = Flow.Remainder.nothing
    var reports = ArrivalReports()
    /// The number of receive calls that have read on the caller's thread. At ``Flow/readBudget``, the count starts
    /// again at 0, and a call on the loop's thread must postpone its read.
    var burst: UInt8 = 0
    var receives = PendingReceives()
    var byteCount: UInt64 = 0

    /// Gives the current thread the claim (the exclusive right) to read.
    mutating func claim() {
        isReading = true
        // Clear the flag before the read call. If content arrives during the call, the event loop sets the flag again.
        // A later clearing would undo this.
        isReadable = false
    }

    /// Records a read of `count` bytes into a buffer of `length` bytes.
    mutating func moved(_ count: Int, into length: Int) {
        // A read of many bytes suggests that more bytes have arrived. Read again, because another read costs little
        // compared with the work for these bytes. Also read again while arrival reports are off, because the loop does
        // not report new bytes.
        if count == length || signs.contains(.end) || count >= Flow.handOverByteCount || reports.areOff {
            isReadable = true
        }
        byteCount &+= UInt64(count)
    }

    /// Records that the transport broke. The remaining content is read before the failure is reported.
    mutating func broke(isBehindEnd: Bool) {
        remainder = isBehindEnd ? .contentAndEnd : .content
        isReadable = true
        signs.formUnion([.end, .error])
        signs.remove(.doubtfulEnd)
    }

    /// Returns whether a write's failure must be reported by the thread that is reading. When a connection breaks, the
    /// kernel reports the cause to one call only. If a write gets EPIPE, an active read may have received the cause.
    mutating func takesOver(_ code: CInt) -> Bool {
        guard code == Errno.brokenPipe, isReading else { return false }
        signs.insert(.brokenPipe)
        return true
    }

    /// Schedules a read on the program's queue. Returns whether the caller must call ``Delivery/dispatch()`` on
    /// `delivery`.
    mutating func post(_ flow: Flow, on delivery: Delivery) -> Bool {
        guard !isPosted else { return false }
        isPosted = true
        return delivery.add(.call { flow.readOnQueue() })
    }

    /// Resets the state that belongs to a closed transport. The receive calls keep waiting.
    mutating func forgetTransport() {
        isReadable = false
        signs = []
        reports = ArrivalReports()
    }
}

extension ReadSide.Signs {
    mutating func set(_ sign: Self, to isSet: Bool) {
        if isSet { insert(sign) } else { remove(sign) }
    }
}

/// The receive calls that wait for content, and the content that waits for a receive call.
struct PendingReceives: Sendable {
    /// Determines how many bytes each receive call gets.
    var queue = ReceiveQueue()
    /// The completion handlers and tasks of the waiting receive calls, in the same order as the calls in ``queue``.
    var waiters = InlineFirstQueue<ReceiveWaiter>()
    /// Received bytes that no request has consumed yet; at most ``Flow/readAhead`` bytes.
    var leftover = Data()

    mutating func append(_ waiter: ReceiveWaiter, _ demand: (inout ReceiveQueue) -> Void) {
        demand(&queue)
        waiters.append(waiter)
    }

    /// If a single receive call waits and can take all `count` new bytes, assigns the bytes to this receive call and
    /// returns `true`. The caller must then complete the receive call.
    mutating func passes(_ count: Int) -> Bool {
        waiters.rest.isEmpty && waiters.first?.takesAll == true && queue.passes(count)
    }

    /// Removes and returns a task's receive call; `nil` if the call is already complete.
    mutating func remove(ofTask id: UInt64) -> ReceiveWaiter? {
        var position = -1
        let found = waiters.removeFirst { waiter in
            position += 1
            switch waiter {
            case .task(let number, _), .distantTask(let number, _), .contentTask(let number, _),
                .batchTask(let number, _):
                return number == id
            case .callback, .channel, .stack, .batch: return false
            }
        }
        if found != nil { _ = queue.forgetDemand(at: position) }
        return found
    }

    /// Removes and returns all receive calls and the bytes that have arrived. `bytes` is `nil` if no bytes have
    /// arrived.
    mutating func removeAll() -> (waiters: [ReceiveWaiter], bytes: Data?) {
        _ = queue.abandon()
        let bytes = leftover.count == 0 ? nil : leftover
        leftover = Data()
        return (waiters.removeAll(), bytes)
    }
}
