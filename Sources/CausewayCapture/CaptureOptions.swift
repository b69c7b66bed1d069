/// What to capture, and how.
public struct CaptureOptions: Hashable, Sendable {
    /// The interface's name; `nil` is all of them, whose packets have cooked headers instead of those of their links.
    public var interface: String?
    /// In the language of pcap. Empty lets everything through.
    public var filter = ""
    /// At most so many bytes of each packet are handed over.
    public var snapLength: Int?
    /// Whether packets for others count too, where the interface can hear them.
    public var isPromiscuous = true
    /// Hands packets over within a millisecond instead of ten.
    public var isImmediate = false
    /// Bytes of the ring that the kernel fills: what fits is not lost while nobody looks.
    public var ringByteCount = 32 << 20
    public var fanOut: FanOut?

    public init(interface: String?) { self.interface = interface }

    /// Several captures that share the work: each packet reaches one of those with the same group and way.
    public struct FanOut: Hashable, Sendable {
        public enum Way: UInt16, Hashable, Sendable {
            /// The packets of one conversation reach the same capture.
            case conversation = 0
            case turns = 1
            /// By the processor on which the packet arrived.
            case processor = 2
        }

        /// Chosen by the program, alike for all that share.
        public var group: UInt16
        public var way: Way

        public init(group: UInt16, way: Way = .conversation) {
            self.group = group
            self.way = way
        }
    }
}

/// How much passed so far.
public struct CaptureStatistics: Hashable, Sendable {
    /// Packets that the filter let through in the kernel.
    public var seen: UInt64 = 0
    /// Those among them for which the ring had no room.
    public var droppedByKernel: UInt64 = 0
    /// Packets that were captured, and that nobody took in time from a ``PacketFrames`` sequence.
    public var droppedUnread: UInt64 = 0

    public init() {}
}
