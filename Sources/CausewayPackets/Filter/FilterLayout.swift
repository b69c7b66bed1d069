/// The packet header positions at the current point of the expression.
///
/// `vlan`, `mpls`, `pppoes`, `geneve` and `vxlan` change the positions for the remaining expression, as the language
/// specifies.
struct FilterLayout: Sendable {
    /// How a link header states its payload type.
    enum Link: Sendable, Equatable {
        case ethernet
        /// A Linux cooked header, which has the Ethernet type at another offset than an Ethernet header.
        case cooked
        /// The header consists only of an Ethernet type.
        case etherType
        /// A four-byte protocol family, as read in network byte order.
        case loopback(FilterFamilies)
        /// A one-byte protocol family.
        case family(FilterFamilies)
        /// An IP header without a link header. `only` is the IP version if the link type fixes it.
        case rawIP(only: Int?)
        case ppp
        /// BSD/OS PPP, whose IP headers may be compressed.
        case pppBSD
        /// Cisco's HDLC.
        case hdlc
        case frameRelay
        case arcnet
        /// An IEEE 802.2 header in every frame; six bytes precede the type.
        case llc
        /// IEEE 802.11: data frames contain IEEE 802.2.
        case wireless
        /// Juniper: the header does not state a type, so a packet matches every type.
        case juniper
        case mpls
        /// The position of the payload's type is unknown, so a filter cannot test that type. It can still test the
        /// packet's bytes and length.
        case opaque
    }

    /// Hardware address positions, relative to the link header.
    enum Addresses: Sendable, Equatable {
        case none
        /// Six-byte addresses.
        case long(destination: Int, source: Int)
        /// One-byte addresses. `broadcastAddress` is the address to which broadcast packets are sent.
        case short(destination: Int, source: Int, broadcastAddress: UInt32)
        /// IEEE 802.11: the positions depend on the frame.
        case wireless
    }

    var linkType: LinkType
    var link: Link
    /// Offset to the network layer's type.
    var typeAt: Int
    /// Offset to the network layer.
    var networkAt: Int
    /// The slot in the filter's scratch memory that contains the base position for `typeAt` and `networkAt`; `nil`
    /// means the start of the packet.
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
            // The first byte of a pflog header states the header's length, which is rounded up to a multiple of four.
            let padded = FilterExpression.binary(
                .binary(.byte(0), .add, .number(3)), .and, .number(0xFFFF_FFFC))
            let slot = prologue.reserve()
            prologue.add(slot, .mark(slot: slot, padded))
            networkSlot = slot
        }
    }

    /// The slot in the filter's scratch memory that contains the base position for `networkAt`; `nil` if `slot`
    /// contains it.
    private var networkSlot: Int?
    /// The test for a link header, in tunnels that carry either frames or IP packets.
    private(set) var frameCondition: FilterNode?

    func load(_ size: Int, _ offset: Int) -> FilterLoad {
        FilterLoad(size: size, offset: offset, place: FilterPlace(slot: slot))
    }
    /// The origin for network layer offsets.
    var networkPlace: FilterPlace { FilterPlace(slot: networkSlot ?? slot) }
    /// Returns a load relative to the network header.
    func network(_ size: Int, _ offset: Int) -> FilterLoad {
        FilterLoad(size: size, offset: networkAt + offset, place: networkPlace)
    }
    /// Returns a load relative to the IPv4 header's end.
    func transport(_ size: Int, _ offset: Int) -> FilterLoad {
        FilterLoad(
            size: size, offset: networkAt + offset, place: FilterPlace(slot: networkPlace.slot, header: networkAt))
    }

    /// Continues with an Ethernet frame whose position is in a slot of the filter's scratch memory.
    ///
    /// - Parameter networkSlot: The slot with the base position for network layer offsets; `nil` means `slot`. Both
    ///   slots contain the same position if the packet has a frame, and different positions if the network layer comes
    ///   without a frame.
    mutating func enterFrame(_ slot: Int, networkSlot: Int? = nil) {
        (self.slot, self.networkSlot, linkHeader) = (slot, networkSlot, FilterOrigin(slot: slot))
        frameCondition = networkSlot.map {
            .relation(.place(FilterPlace(slot: slot)), .equal, .place(FilterPlace(slot: $0)))
        }
        (link, typeAt, networkAt, labels) = (.ethernet, 12, 14, 0)
        addresses = .long(destination: 0, source: 6)
    }
}
