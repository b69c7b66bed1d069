/// The packet header positions at the current point of the expression.
///
/// `vlan`, `mpls`, `pppoes`, `geneve` and `vxlan` change the positions for the remaining expression, as the language
/// specifies.
struct FilterLayout: Sendable {
    /// How the link header describes the type of its payload.
    enum Link: Sendable, Equatable {
        case ethernet
        /// A Linux cooked header. Its Ethernet type is at another offset than in an Ethernet header.
        case cooked
        /// The header consists only of an Ethernet type.
        case etherType
        /// A four-byte protocol family, as read in network byte order.
        case loopback(FilterFamilies)
        /// The header is a single byte that contains a protocol family.
        case family(FilterFamilies)
        /// The packet begins with an IP header, without a link header. If the link type permits only one IP version,
        /// `only` is this version.
        case rawIP(only: Int?)
        case ppp
        /// PPP of BSD/OS. Its IP headers may be compressed.
        case pppBSD
        /// Cisco's HDLC.
        case hdlc
        case frameRelay
        case arcnet
        /// An IEEE 802.2 header in every frame; six bytes precede the type.
        case llc
        /// An IEEE 802.11 header. In data frames, an IEEE 802.2 header follows.
        case wireless
        /// Juniper link types. The header does not state the payload's type, so a packet matches every type.
        case juniper
        case mpls
        /// It is unknown where the header contains the type of the payload. A filter therefore cannot test the type,
        /// but it can still test the packet's bytes and length.
        case opaque
    }

    /// The positions of the hardware addresses, relative to the link header.
    enum Addresses: Sendable, Equatable {
        case none
        /// Six-byte addresses.
        case long(destination: Int, source: Int)
        /// One-byte addresses. `broadcastAddress` is the address to which broadcast packets are sent.
        case short(destination: Int, source: Int, broadcastAddress: UInt32)
        /// The address positions differ between IEEE 802.11 frames.
        case wireless
    }

    var linkType: LinkType
    var link: Link
    /// The offset of the field that contains the network layer's type.
    var typeAt: Int
    /// Offset to the network layer.
    var networkAt: Int
    /// The slot in the filter's scratch memory that contains the base position. `typeAt` and `networkAt` are relative
    /// to this position. With `nil`, they are relative to the packet's start.
    var slot: Int?
    /// The start of the link header.
    var linkHeader = FilterOrigin()
    var addresses = Addresses.none
    var labels = 0
    var prologue = FilterPrologue()
    /// Whether the kernel runs the filter and can provide metadata besides the packet's bytes.
    var isLive: Bool

    init(_ linkType: LinkType, isLive: Bool) {
        self.linkType = linkType
        self.isLive = isLive
        (link, typeAt, networkAt) = FilterLinks.place(linkType)
        (linkHeader.offset, addresses) = FilterLinks.addresses(linkType)
        if link == .wireless { findWirelessHeaders() }
        if linkType == .pflog {
            // The first byte of a pflog header is the header's length. Round this length up to a multiple of four.
            let padded = FilterExpression.binary(
                .binary(.byte(0), .add, .number(3)), .and, .number(0xFFFF_FFFC))
            let slot = prologue.reserve()
            prologue.add(slot, .mark(slot: slot, padded))
            networkSlot = slot
        }
    }

    /// The slot in the filter's scratch memory that contains the base position for `networkAt`. `nil` means that this
    /// position is in `slot` too.
    private var networkSlot: Int?
    /// A test that the packet must pass before a test of its link header. It is needed in tunnels that can carry
    /// Ethernet frames or IP packets.
    private(set) var frameCondition: FilterNode?

    func load(_ size: Int, _ offset: Int) -> FilterLoad {
        FilterLoad(size: size, offset: offset, place: FilterPlace(slot: slot))
    }
    /// The origin for network layer offsets.
    var networkPlace: FilterPlace { FilterPlace(slot: networkSlot ?? slot) }
    /// Returns a filter load of `size` bytes. `offset` counts from the start of the network header.
    func network(_ size: Int, _ offset: Int) -> FilterLoad {
        FilterLoad(size: size, offset: networkAt + offset, place: networkPlace)
    }
    /// Returns a load whose offset counts from the end of the IPv4 header.
    func transport(_ size: Int, _ offset: Int) -> FilterLoad {
        FilterLoad(
            size: size, offset: networkAt + offset, place: FilterPlace(slot: networkPlace.slot, header: networkAt))
    }

    /// Continues with an Ethernet frame. Its position is stored in a slot of the filter's scratch memory.
    ///
    /// - Parameter networkSlot: The slot with the base position for offsets in the network layer. `nil` means the same
    ///   slot as `slot`. If the packet has an Ethernet frame, both slots contain the same position. Otherwise, the
    ///   positions differ.
    mutating func enterFrame(_ slot: Int, networkSlot: Int? = nil) {
        (self.slot, self.networkSlot, linkHeader) = (slot, networkSlot, FilterOrigin(slot: slot))
        frameCondition = networkSlot.map {
            .relation(.place(FilterPlace(slot: slot)), .equal, .place(FilterPlace(slot: $0)))
        }
        (link, typeAt, networkAt, labels) = (.ethernet, 12, 14, 0)
        addresses = .long(destination: 0, source: 6)
    }
}
