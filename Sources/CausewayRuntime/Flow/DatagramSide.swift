internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

/// The part of a flow's state that only datagram flows need.
struct DatagramSide: Sendable {
    /// Datagrams that have arrived but were not received by the program yet.
    var inbox = DatagramInbox()
    /// The error that a host or router has reported for an earlier datagram. No receive call has reported it to the
    /// program yet.
    var refusal: Failure?
    /// The first parts of a datagram whose final part is still missing.
    var outgoing = Data()
    /// Whether the kernel supports segmentation offload (UDP_SEGMENT) for this socket. It then accepts several
    /// datagrams in one block, and divides the block into the datagrams.
    var hasSegmentOffload = true
    /// The flow to which this state belongs. Needed to schedule a call to the flow on the program's queue.
    unowned var flow: Flow?
    /// Whether a delivery on the program's queue is scheduled.
    var isPosted = false
    var isDelivering = false
    /// Determines the number of datagrams that may wait for the program before reading from the socket pauses.
    var holdRule = HoldRule()
    /// How many datagrams tasks have received since the last time when a task was suspended.
    var immediateCount = 0

    /// Determines how many datagrams may wait for the program before the socket's reader stops.
    struct HoldRule: Sendable {
        /// Whether a task receives the datagrams on the loop's thread. If so, only a few datagrams may wait for the
        /// task. They are then still in the processor's cache when the task receives them.
        var isReadOnLoop = false
        /// Whether the kernel's buffer is large, so that the inbox need not hold many datagrams.
        var isSocketDeep = false

        var mark: DatagramInbox.Mark { isReadOnLoop ? .near : isSocketDeep ? .close : .far }
    }

    /// Whether a receive call can complete now, with a datagram or an error.
    var hasAnswer: Bool { refusal != nil || !inbox.isEmpty }

    /// Whether the number or size of the datagrams that wait for the program exceeds the limit. If so, the reader of
    /// the shared socket must stop.
    var isAboveMark: Bool { inbox.isAbove(holdRule.mark) }

    mutating func beginHold() -> Bool { inbox.hold(above: holdRule.mark) }

    mutating func takeImmediately() -> (data: Data, mark: PacketMark)? {
        guard refusal == nil, immediateCount < Flow.immediateBudget, let (data, mark, _) = inbox.next(maximum: .max)
        else { return nil }
        immediateCount += 1
        return (data, mark)
    }
}
