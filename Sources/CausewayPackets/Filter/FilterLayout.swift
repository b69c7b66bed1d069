/// Where a packet's headers lie for the part of an expression that is being read.
///
/// `vlan`, `mpls`, `pppoes`, `geneve` and `vxlan` change it for everything that stands behind them, as the language wants it.
struct FilterLayout: Sendable {
    enum Link: Sendable, Equatable {
        case ethernet
        /// Linux's cooked headers: an Ethernet type at a place of its own.
        case cooked
        /// A protocol family of four octets, as a number in network byte order.
        case loopback(ipv4: UInt32, ipv6: UInt32)
        /// An IP header comes first; `only` tells which version, if just one can come.
        case rawIP(only: Int?)
        case ppp
        case mpls
    }

    var linkType: LinkType
    var link: Link
    /// Where the type of the network layer stands.
    var typeAt: Int
    /// Where the network layer begins.
    var networkAt: Int
    /// The slot that holds the beginning of a tunnelled frame.
    var slot: Int?
    var labels = 0
    var slots = 0
    /// Whether the kernel can be asked what it knows besides the packet's octets.
    var isLive: Bool

    init?(_ linkType: LinkType, isLive: Bool) {
        self.linkType = linkType
        self.isLive = isLive
        switch linkType {
        case .ethernet: (link, typeAt, networkAt) = (.ethernet, 12, 14)
        case .linuxCooked: (link, typeAt, networkAt) = (.cooked, 14, 16)
        case .linuxCooked2: (link, typeAt, networkAt) = (.cooked, 0, 20)
        // The family is in the byte order of the host that captured: this one's.
        case .null: (link, typeAt, networkAt) = (.loopback(ipv4: 0x0200_0000, ipv6: 0x0A00_0000), 0, 4)
        case .loop: (link, typeAt, networkAt) = (.loopback(ipv4: 2, ipv6: 10), 0, 4)
        case .raw: (link, typeAt, networkAt) = (.rawIP(only: nil), 0, 0)
        case .ipv4: (link, typeAt, networkAt) = (.rawIP(only: 4), 0, 0)
        case .ipv6: (link, typeAt, networkAt) = (.rawIP(only: 6), 0, 0)
        default: return nil
        }
    }

    func load(_ size: Int, _ offset: Int) -> FilterLoad {
        FilterLoad(size: size, offset: offset, place: FilterPlace(slot: slot))
    }
    /// From the network header on.
    func network(_ size: Int, _ offset: Int) -> FilterLoad { load(size, networkAt + offset) }
    /// From behind the IPv4 header on.
    func transport(_ size: Int, _ offset: Int) -> FilterLoad {
        FilterLoad(size: size, offset: networkAt + offset, place: FilterPlace(slot: slot, header: networkAt))
    }

    /// The packet is of an Ethernet type, or, below 1501, of an LLC service access point.
    func type(_ type: UInt32) -> FilterNode {
        switch link {
        case .ethernet: ethernet(type)
        case .cooked: cooked(type)
        case .loopback(let ipv4, let ipv6):
            type == 0x800
                ? .equal(load(4, typeAt), ipv4) : type == 0x86DD ? .equal(load(4, typeAt), ipv6) : .constant(false)
        case .rawIP(let only): rawIP(type, only)
        case .ppp: ppp(type)
        case .mpls: overMPLS(type)
        }
    }

    private func rawIP(_ type: UInt32, _ only: Int?) -> FilterNode {
        let version: UInt32 = type == 0x800 ? 4 : type == 0x86DD ? 6 : 0
        guard version != 0 else { return .constant(false) }
        if let only { return .constant(only == Int(version)) }
        return .equal(network(1, 0), version << 4, mask: 0xF0)
    }

    private func ppp(_ type: UInt32) -> FilterNode {
        let number: UInt32 =
            switch type {
            case 0x800: 0x21
            case 0x86DD: 0x57
            case 0x8847: 0x281
            case 0x6003: 0x27
            case 0x809B: 0x29
            case 0xFE: 0x23
            case 0x42: 0x31
            case 0xE0: 0x2B
            default: type
            }
        return .equal(load(2, typeAt), number)
    }

    /// The bottom of the stack, and the version that the first half octet tells.
    private func overMPLS(_ type: UInt32) -> FilterNode {
        let bottom = FilterNode.equal(load(1, networkAt - 2), 1, mask: 1)
        switch type {
        case 0x800: return .all([bottom, .equal(network(1, 0), 0x40, mask: 0xF0)])
        case 0x86DD: return .all([bottom, .equal(network(1, 0), 0x60, mask: 0xF0)])
        default: return .constant(false)
        }
    }

    private var hasLength: FilterNode { .not(.test(load(2, typeAt), mask: .max, .greater, 1500)) }

    private func ethernet(_ type: UInt32) -> FilterNode {
        let data = typeAt + 2
        switch type {
        case 0xFE, 0x06, 0xF0:
            return .all([hasLength, .equal(load(2, data), type << 8 | type)])
        case 0xE0:
            let encapsulated = FilterNode.any([
                .equal(load(1, data), 0xE0), snap(0, 0x8137, data), .equal(load(2, data), 0xFFFF),
            ])
            return .any([.all([hasLength, encapsulated]), .equal(load(2, typeAt), 0x8137)])
        case 0x809B, 0x80F3:
            let organization: UInt32 = type == 0x809B ? 0x08_0007 : 0
            return .any([.all([hasLength, snap(organization, type, data)]), .equal(load(2, typeAt), type)])
        default:
            guard type <= 1500 else { return .equal(load(2, typeAt), type) }
            return .all([hasLength, .equal(load(1, data), type)])
        }
    }

    private func cooked(_ type: UInt32) -> FilterNode {
        let data = networkAt
        let isLLC = FilterNode.equal(load(2, typeAt), 4)
        switch type {
        case 0xFE, 0x06, 0xF0: return .all([isLLC, .equal(load(2, data), type << 8 | type)])
        case 0xE0:
            return .any([
                .all([isLLC, .any([.equal(load(1, data), 0xE0), snap(0, 0x8137, data)])]),
                .equal(load(2, typeAt), 1), .equal(load(2, typeAt), 0x8137),
            ])
        case 0x809B, 0x80F3:
            let organization: UInt32 = type == 0x809B ? 0x08_0007 : 0
            return .any([.all([isLLC, snap(organization, type, data)]), .equal(load(2, typeAt), type)])
        default:
            guard type <= 1500 else { return .equal(load(2, typeAt), type) }
            return .all([isLLC, .equal(load(1, data), type)])
        }
    }

    private func snap(_ organization: UInt32, _ type: UInt32, _ data: Int) -> FilterNode {
        .all([
            .equal(load(4, data), 0xAAAA_0300 | organization >> 16),
            .equal(load(4, data + 4), (organization & 0xFFFF) << 16 | type),
        ])
    }
}
