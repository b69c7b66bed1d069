/// Tests for the payload type of each link.
extension FilterLayout {
    /// Returns a test for an Ethernet type, or for an LLC service access point if `type` is below 1501.
    func type(_ type: UInt32) -> FilterNode {
        switch link {
        case .ethernet: ethernet(type)
        case .cooked: cooked(type)
        case .etherType: .equal(load(2, typeAt), type)
        case .loopback(let families): families.node(type, load(4, typeAt))
        case .family(let families): families.node(type, load(1, typeAt))
        case .rawIP(let only): rawIP(type, only)
        case .ppp: ppp(type)
        case .pppBSD:
            // IP headers may be compressed (three protocol numbers).
            type == 0x800 ? .member(load(2, typeAt), mask: .max, [0x21...0x21, 0x2D...0x2D, 0x2F...0x2F]) : ppp(type)
        case .hdlc: .equal(load(2, typeAt), type == 0xFE ? 0xFEFE : type)
        case .frameRelay: frameRelay(type)
        case .arcnet: arcnet(type)
        case .llc: llcType(type)
        case .wireless: .all([carriesData, llcType(type)])
        case .juniper: .equal(load(4, 0), 0x4D47_4300, mask: 0xFFFF_FF00)
        case .mpls: overMPLS(type)
        case .opaque: .constant(false)
        }
    }

    /// Offset of the byte that identifies an ISO protocol.
    private var isoAt: Int {
        switch link {
        case .llc, .wireless: typeAt - 3
        case .ppp, .pppBSD, .etherType, .juniper: networkAt
        case .hdlc: networkAt + 1
        default: networkAt + 3
        }
    }

    func isoProtocol(_ number: UInt32) -> FilterNode {
        if link == .frameRelay { return .equal(load(2, typeAt), 0x300 | number) }
        return .all([type(0xFE), .equal(load(1, isoAt), number)])
    }

    func isisTypes(_ types: [UInt32]) -> FilterNode {
        let at = link == .frameRelay ? networkAt : isoAt
        return .any(types.map { .all([isoProtocol(0x83), .equal(load(1, at + 4), $0, mask: 0x1F)]) })
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
            case 0x600: 0x25
            case 0xFE: 0x23
            case 0x42: 0x31
            case 0xE0: 0x2B
            default: type
            }
        return .equal(load(2, typeAt), number)
    }

    private func frameRelay(_ type: UInt32) -> FilterNode {
        switch type {
        case 0x800: .equal(load(2, typeAt), 0x3CC)
        case 0x86DD: .equal(load(2, typeAt), 0x38E)
        case 0xFE: .member(load(2, typeAt), mask: .max, [0x381...0x383])
        default: .constant(false)
        }
    }

    private func arcnet(_ type: UInt32) -> FilterNode {
        let numbers: [UInt32: UInt32] = [0x800: 0xD4, 0x86DD: 0xC4, 0x806: 0xD5, 0x8035: 0xD6, 0x809B: 0xDD]
        return numbers[type].map { .equal(load(1, typeAt), $0) } ?? .constant(false)
    }

    /// Returns a test for IEEE 802.2, followed by SNAP if the type is an Ethernet type.
    private func llcType(_ type: UInt32) -> FilterNode {
        let data = typeAt - 6
        switch type {
        case 0xFE, 0x06, 0xF0: return .equal(load(2, data), type << 8 | type)
        case 0x809B: return snap(0x08_0007, type, data)
        default: return type > 1500 ? .equal(load(2, typeAt), type) : .equal(load(1, data), type)
        }
    }

    /// Returns a test for the bottom of the label stack, and for the IP version in the first half byte.
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
