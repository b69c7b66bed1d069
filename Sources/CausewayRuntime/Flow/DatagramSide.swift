internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// A datagram flow's own state.
struct DatagramSide: Sendable {
    /// Datagrams that have arrived but were not received by the program yet.
    var inbox = DatagramInbox()
    /// The error for an earlier datagram that a host or router on the path rejected; no receive call has reported the
    /// error yet.
    var refusal: Failure?
    /// The first parts of a datagram whose final part is still missing.
    var outgoing = Data()
    /// Whether the kernel accepts several datagrams in one block for this socket, and divides the block into the
    /// datagrams (UDP_SEGMENT).
    var hasSegmentOffload = true
    /// The flow to which this state belongs. Needed to schedule a call to the flow on the program's queue.
    unowned var flow: Flow?
    /// Whether a delivery on the program's queue is scheduled.
    var isPosted = false
    var isDelivering = false
    /// Determines the number of datagrams that may wait for the program before reading from the socket pauses.
    var holdRule = HoldRule()
    /// The number of datagrams that tasks have received since a task was last suspended.
    var immediateCount = 0

    /// The conditions that determine how many datagrams may wait for the program before the socket's reader stops.
    struct HoldRule: Sendable {
        /// Whether a task receives the datagrams on the loop's thread. In that case, only a few datagrams may wait for
        /// the task, so that they are still in the processor's cache when the task receives them.
        var isReadOnLoop = false
        /// Whether the kernel's buffer is large, so that the inbox need not hold many datagrams.
        var isSocketDeep = false

        var mark: DatagramInbox.Mark { isReadOnLoop ? .near : isSocketDeep ? .close : .far }
    }

    /// Whether a receive call can be completed now.
    var hasAnswer: Bool { refusal != nil || !inbox.isEmpty }

    /// Whether the shared socket's reader must stop, because enough datagrams wait for the program.
    var isAboveMark: Bool { inbox.isAbove(holdRule.mark) }

    mutating func beginHold() -> Bool { inbox.hold(above: holdRule.mark) }

    mutating func takeImmediately() -> (data: Data, mark: PacketMark)? {
        guard refusal == nil, immediateCount < Flow.immediateBudget, let (data, mark, _) = inbox.next(maximum: .max)
        else { return nil }
        immediateCount += 1
        return (data, mark)
    }
}
