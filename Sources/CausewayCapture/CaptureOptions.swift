/// Options for a capture.
public struct CaptureOptions: Hashable, Sendable {
    /// The interface name. `nil` captures on all interfaces; packets then have Linux cooked headers instead of link headers.
    public var interface: String?
    /// A filter in pcap syntax. An empty filter matches all packets.
    public var filter = ""
    /// Maximum number of bytes to capture per packet (snap length); `nil` for whole packets.
    public var snapLength: Int?
    /// Whether to capture packets for other hosts too (promiscuous mode).
    public var isPromiscuous = true
    /// Whether the kernel delivers packets within 1 ms instead of 10 ms.
    public var isImmediate = false
    /// The kernel ring buffer's size in bytes. Packets wait there until the program reads them.
    public var ringByteCount = 32 << 20
    /// The group of captures among which the packets are distributed; `nil` if this capture receives all packets.
    public var fanOut: FanOut?

    /// Creates options with default values. A `nil` interface captures on all interfaces.
    public init(interface: String?) { self.interface = interface }

    /// Distributes packets among a group's captures (`PACKET_FANOUT`): each packet is delivered to one of them.
    public struct FanOut: Hashable, Sendable {
        /// The rule by which a packet is assigned to one of the captures.
        public enum Way: UInt16, Hashable, Sendable {
            /// All packets in one flow are delivered to the same capture.
            case conversation = 0
            /// The captures receive packets in turn (round robin).
            case turns = 1
            /// The processor on which the packet arrived selects the capture.
            case processor = 2
        }

        /// A number chosen by the program, the same for all captures in the group.
        public var group: UInt16
        /// How the group selects one of its captures for each packet.
        public var way: Way

        /// Creates a membership in a capture group.
        public init(group: UInt16, way: Way = .conversation) {
            self.group = group
            self.way = way
        }
    }
}

/// A capture's packet counts so far.
public struct CaptureStatistics: Hashable, Sendable {
    /// Packets that passed the kernel's filter.
    public var seen: UInt64 = 0
    /// Packets that passed the kernel's filter and were dropped because the ring was full.
    public var droppedByKernel: UInt64 = 0
    /// Captured packets that were dropped because a ``PacketFrames`` reader was too slow.
    public var droppedUnread: UInt64 = 0

    /// Creates statistics with all counts at zero.
    public init() {}
}
