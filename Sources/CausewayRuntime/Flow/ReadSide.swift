internal import CausewayProtocols
internal import CausewaySystem
internal import FoundationEssentials

/// The receiving side of a flow. It stores whether the transport is readable, which receive calls wait, and whether a
/// thread is reading.
struct ReadSide: Sendable {
    /// Signs that the peer's stream may have ended or failed. Only a later read can confirm them.
    struct Signs: OptionSet, Sendable {
        let rawValue: UInt8

        /// The loop has reported the end of the peer's stream. This end may still be unread, even after a read that
        /// returned fewer bytes than requested.
        static let end = Signs(rawValue: 1 << 0)
        /// One thread read the end of the stream while another thread was using the transport.
        static let doubtfulEnd = Signs(rawValue: 1 << 1)
        /// A failure of the transport was reported while a thread was reading.
        static let error = Signs(rawValue: 1 << 2)
        /// While a thread was reading, a write failed with EPIPE.
        static let brokenPipe = Signs(rawValue: 1 << 3)
    }

    /// Whether content may be waiting in the transport.
    var isReadable = false
    /// Whether some thread is now reading from the transport. No other thread may read meanwhile.
    var isReading = false
    /// Whether a read is already scheduled on the program's queue.
    var isPosted = false
    var signs: Signs = []
    var remainder = Flow.Remainder.nothing
    var reports = ArrivalReports()
    /// How many receive calls in a row have read on the caller's thread. When the count reaches ``Flow/readBudget``, it
    /// starts again at 0. If that call runs on the loop's thread, it must postpone its read.
    var burst: UInt8 = 0
    var receives = PendingReceives()
    var byteCount: UInt64 = 0

    /// Gives the current thread the claim (the exclusive right) to read.
    mutating func claim() {
        isReading = true
        // Clear the flag before the read call. If content arrives during the call, the event loop sets the flag again.
        // Clearing the flag after the call would lose this information.
        isReadable = false
    }

    /// Records that a read has placed `count` bytes into a buffer with space for `length` bytes.
    mutating func moved(_ count: Int, into length: Int) {
        // A read of many bytes suggests that more bytes have arrived. So read again, which costs little compared with
        // the work for these bytes. Also read again while arrival reports are off, because the loop then does not
        // report new bytes.
        if count == length || signs.contains(.end) || count >= Flow.handOverByteCount || reports.areOff {
            isReadable = true
        }
        byteCount &+= UInt64(count)
    }

    /// Records that the transport broke. The flow reads the remaining content before it reports the failure.
    mutating func broke(isBehindEnd: Bool) {
        remainder = isBehindEnd ? .contentAndEnd : .content
        isReadable = true
        signs.formUnion([.end, .error])
        signs.remove(.doubtfulEnd)
    }

    /// Returns whether the thread that is reading must report the failure of a write.
    ///
    /// When a connection breaks, the kernel reports the cause to only one system call. If a write gets EPIPE, a read
    /// that is running may have received the cause.
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

/// Matches receive calls with content. Stores the calls that still wait, and content that no call has received yet.
struct PendingReceives: Sendable {
    /// Decides how many bytes each waiting receive call gets.
    var queue = ReceiveQueue()
    /// The completion handlers and tasks of the waiting receive calls, in the same order as the calls in ``queue``.
    var waiters = InlineFirstQueue<ReceiveWaiter>()
    /// Received bytes that no request has consumed yet; at most ``Flow/readAhead`` bytes.
    var leftover = Data()

    mutating func append(_ waiter: ReceiveWaiter, _ demand: (inout ReceiveQueue) -> Void) {
        demand(&queue)
        waiters.append(waiter)
    }

    /// Assigns `count` new bytes to the waiting receive call. This happens only if exactly one call waits and it can
    /// take all of the bytes.
    ///
    /// Returns whether the bytes were assigned. If so, the caller must complete the receive call.
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

    /// Removes and returns all receive calls, with the bytes that were read but not delivered. `bytes` is `nil` if
    /// there are no such bytes.
    mutating func removeAll() -> (waiters: [ReceiveWaiter], bytes: Data?) {
        _ = queue.abandon()
        let bytes = leftover.count == 0 ? nil : leftover
        leftover = Data()
        return (waiters.removeAll(), bytes)
    }
}
