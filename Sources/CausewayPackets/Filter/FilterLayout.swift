/// Where a packet's headers lie for the part of an expression that is being read.
///
/// `vlan`, `mpls`, `pppoes`, `geneve` and `vxlan` change it for everything that stands behind them, as the language wants it.
struct FilterLayout: Sendable {
    /// How a link tells what it carries.
    enum Link: Sendable, Equatable {
        case ethernet
        /// Linux's cooked headers: an Ethernet type at a place of its own.
        case cooked
        /// An Ethernet type, and nothing else.
        case etherType
        /// A protocol family of four bytes, in any of its numbers as read in network byte order.
        case loopback(FilterFamilies)
        /// A protocol family of one byte.
        case family(FilterFamilies)
        /// An IP header comes first; `only` tells which version, if just one can come.
        case rawIP(only: Int?)
        case ppp
        /// PPP as BSD/OS has it, whose headers of IP may be compressed.
        case pppBSD
        /// Cisco's HDLC.
        case hdlc
        case frameRelay
        case arcnet
        /// IEEE 802.2 always: six bytes before the type.
        case llc
        /// IEEE 802.11: 802.2 in frames of data.
        case wireless
        /// Any packet of Juniper's is of every type: the header does not tell.
        case juniper
        case mpls
        /// No place of a type is known: only bytes and lengths can be asked for.
        case opaque
    }

    /// Where hardware addresses lie, from the link's header on.
    enum Addresses: Sendable, Equatable {
        case none
        /// Six bytes each.
        case long(destination: Int, source: Int)
        /// One byte each, and the one that means everybody.
        case short(destination: Int, source: Int, everybody: UInt32)
        /// IEEE 802.11: it depends on the frame.
        case wireless
    }

    var linkType: LinkType
    var link: Link
    /// Where the type of the network layer stands.
    var typeAt: Int
    /// Where the network layer begins.
    var networkAt: Int
    /// The slot that holds the place from which the two above count; `nil`: the packet's beginning.
    var slot: Int?
    /// Where the link's header begins, and the slot that this counts from.
    var linkAt = 0
    var linkSlot: Int?
    var addresses = Addresses.none
    var labels = 0
    var slots = 0
    /// What must be computed before a slot can be used, with the slot.
    var preludes: [(slot: Int, node: FilterNode)] = []
    /// What must hold of every packet.
    var condition: FilterNode?
    /// Whether the kernel can be asked what it knows besides the packet's bytes.
    var isLive: Bool

    init(_ linkType: LinkType, isLive: Bool) {
        self.linkType = linkType
        self.isLive = isLive
        (link, typeAt, networkAt) = FilterLinks.place(linkType)
        (linkAt, addresses) = FilterLinks.addresses(linkType)
        if link == .wireless { findWirelessHeaders() }
        if linkType == .pflog {
            // The header tells its own length, which is rounded up.
            let padded = FilterExpression.binary(
                .binary(.byte(0), .add, .number(3)), .and, .number(0xFFFF_FFFC))
            preludes = [(0, .mark(slot: 0, padded))]
            (slots, networkSlot) = (1, 0)
        }
    }

    /// The slot that `networkAt` counts from, where the type lies elsewhere.
    private var networkSlot: Int?
    /// What must hold for a link's header to be there at all: some tunnels carry IP itself as well as frames.
    private(set) var frameCondition: FilterNode?

    func load(_ size: Int, _ offset: Int) -> FilterLoad {
        FilterLoad(size: size, offset: offset, place: FilterPlace(slot: slot))
    }
    /// The place that the network layer is found from.
    var networkPlace: FilterPlace { FilterPlace(slot: networkSlot ?? slot) }
    /// From the network header on.
    func network(_ size: Int, _ offset: Int) -> FilterLoad {
        FilterLoad(size: size, offset: networkAt + offset, place: networkPlace)
    }
    /// From behind the IPv4 header on.
    func transport(_ size: Int, _ offset: Int) -> FilterLoad {
        FilterLoad(
            size: size, offset: networkAt + offset, place: FilterPlace(slot: networkPlace.slot, header: networkAt))
    }
    /// From the link's header on.
    func linkHeader(_ size: Int, _ offset: Int) -> FilterLoad {
        FilterLoad(size: size, offset: linkAt + offset, place: FilterPlace(slot: linkSlot))
    }

    /// A frame of Ethernet begins at a slot.
    ///
    /// - Parameter networkSlot: Where the network layer is counted from, if not from there: the two are the same place where there is a
    ///   frame, and are not where the network layer comes without one.
    mutating func enterFrame(_ slot: Int, networkSlot: Int? = nil) {
        (self.slot, linkSlot, linkAt, self.networkSlot) = (slot, slot, 0, networkSlot)
        frameCondition = networkSlot.map {
            .relation(.place(FilterPlace(slot: slot)), .equal, .place(FilterPlace(slot: $0)))
        }
        (link, typeAt, networkAt, labels) = (.ethernet, 12, 14, 0)
        addresses = .long(destination: 0, source: 6)
    }

    /// What is computed first, for those places that an expression uses.
    func completed(_ node: FilterNode) -> FilterNode {
        var used = node.slots
        for prelude in preludes.reversed() where used.contains(prelude.slot) { used.formUnion(prelude.node.slots) }
        let first = preludes.filter { used.contains($0.slot) }.map(\.node) + (condition.map { [$0] } ?? [])
        return first.isEmpty ? node : .all(first + [node])
    }
}
