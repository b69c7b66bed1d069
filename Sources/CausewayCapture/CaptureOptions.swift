/// The options of a capture.
public struct CaptureOptions: Hashable, Sendable {
    /// The name of the interface. `nil` captures on all interfaces; packets then have cooked headers instead of link headers.
    public var interface: String?
    /// A filter in the pcap language. An empty filter matches all packets.
    public var filter = ""
    /// Maximum number of bytes to capture of each packet (snap length); `nil` for whole packets.
    public var snapLength: Int?
    /// Whether to capture packets for other hosts too (promiscuous mode).
    public var isPromiscuous = true
    /// Whether to deliver packets within 1 ms instead of 10 ms.
    public var isImmediate = false
    /// Size of the kernel's ring buffer, in bytes. Packets wait there until the program reads them.
    public var ringByteCount = 32 << 20
    /// The group of captures that share the packets; `nil` if this capture receives all packets.
    public var fanOut: FanOut?

    /// Creates options with default values. `nil` captures on all interfaces.
    public init(interface: String?) { self.interface = interface }

    /// Distributes packets among several captures: each packet is delivered to one capture of the group.
    public struct FanOut: Hashable, Sendable {
        /// The rule that selects the capture for a packet.
        public enum Way: UInt16, Hashable, Sendable {
            /// All packets of one flow are delivered to the same capture.
            case conversation = 0
            /// The captures receive packets in turn (round robin).
            case turns = 1
            /// The processor on which the packet arrived selects the capture.
            case processor = 2
        }

        /// A number that the program chooses, the same for all captures of the group.
        public var group: UInt16
        /// The rule that selects the capture for a packet.
        public var way: Way

        /// Creates a membership in a group of captures.
        public init(group: UInt16, way: Way = .conversation) {
            self.group = group
            self.way = way
        }
    }
}

/// The packet counts of a capture so far.
public struct CaptureStatistics: Hashable, Sendable {
    /// Packets that passed the kernel's filter.
    public var seen: UInt64 = 0
    /// Packets that passed the filter and were dropped because the ring was full.
    public var droppedByKernel: UInt64 = 0
    /// Captured packets that were dropped because the reader of a ``PacketFrames`` sequence was too slow.
    public var droppedUnread: UInt64 = 0

    /// Creates statistics with all counts at zero.
    public init() {}
}
