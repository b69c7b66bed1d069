/// Payload type tests for each link.
extension FilterLayout {
    /// PPP protocol numbers that only filters test (IANA registry "PPP DLL Protocol Numbers").
    private enum PPP {
        static let iso: UInt32 = 0x23
        static let xns: UInt32 = 0x25
        static let decnet: UInt32 = 0x27
        static let appleTalk: UInt32 = 0x29
        static let ipx: UInt32 = 0x2B
        static let spanningTree: UInt32 = 0x31
        /// PPP protocol numbers for IPv4. The first is for plain IPv4. In the second, the TCP header is compressed. In
        /// the third, a full TCP header prepares the compression (RFC 1144 §3.2.3).
        static let ipv4Forms: [UInt32] = [0x21, 0x2D, 0x2F]
    }

    /// Values of the Frame Relay control field and of the protocol field after it (RFC 2427 §3).
    private enum FrameRelay {
        /// The value of the control field for unnumbered information. The protocol follows this field.
        static let unnumbered: UInt32 = 0x0300
        static let ipv6: UInt32 = 0x8E
        static let ipv4: UInt32 = 0xCC
    }

    /// The bytes "MGC" at the start of Juniper's link-layer headers, followed by a zero byte.
    private static let juniperMagic: UInt32 = 0x4D47_4300
    /// The first bytes of a SNAP header: two LLC access points and the control field. The organization follows (RFC
    /// 1042).
    private static let snapHeader: UInt32 = 0xAAAA_0300

    /// Returns the first two bytes of an LLC header whose destination and source are both `accessPoint`.
    private static func doubled(_ accessPoint: UInt32) -> UInt32 { accessPoint << 8 | accessPoint }

    /// Returns the SNAP organization for an AppleTalk protocol.
    private static func organization(_ type: UInt32) -> UInt32 {
        type == FilterPayload.appleTalk ? FilterPayload.appleOrganization : FilterPayload.ethernetOrganization
    }

    /// Returns a test for an IP header's version field.
    private func hasVersion(_ version: UInt8) -> FilterNode {
        .equal(network(1, 0), UInt32(version) << 4, mask: 0xF0)
    }

    private func snapIPX(_ data: Int) -> FilterNode {
        snap(FilterPayload.ethernetOrganization, FilterPayload.ipxEthernet, data)
    }

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
            // PPP may compress IP headers, so three protocol numbers stand for IPv4.
            type == FilterPayload.ipv4
                ? .member(load(2, typeAt), mask: .max, FilterRanges.merged(PPP.ipv4Forms.map { $0...$0 })) : ppp(type)
        case .hdlc: .equal(load(2, typeAt), type == FilterPayload.iso ? Self.doubled(FilterPayload.iso) : type)
        case .frameRelay: frameRelay(type)
        case .arcnet: arcnet(type)
        case .llc: llcType(type)
        case .wireless: .all([carriesData, llcType(type)])
        case .juniper: .equal(load(4, 0), Self.juniperMagic, mask: 0xFFFF_FF00)
        case .mpls: overMPLS(type)
        case .opaque: .constant(false)
        }
    }

    /// The offset of the byte that contains the ISO protocol number.
    private var isoAt: Int {
        switch link {
        case .llc, .wireless: typeAt - 3
        case .ppp, .pppBSD, .etherType, .juniper: networkAt
        case .hdlc: networkAt + 1
        default: networkAt + 3
        }
    }

    func isoProtocol(_ number: UInt32) -> FilterNode {
        if link == .frameRelay { return .equal(load(2, typeAt), FrameRelay.unnumbered | number) }
        return .all([type(FilterPayload.iso), .equal(load(1, isoAt), number)])
    }

    func isisTypes(_ types: [UInt32]) -> FilterNode {
        let at = link == .frameRelay ? networkAt : isoAt
        return .any(
            types.map { .all([isoProtocol(ISOProtocol.isis), .equal(load(1, at + 4), $0, mask: ISISType.mask)]) })
    }

    private func rawIP(_ type: UInt32, _ only: Int?) -> FilterNode {
        let version: UInt8
        switch type {
        case FilterPayload.ipv4: version = IPVersion.ipv4
        case FilterPayload.ipv6: version = IPVersion.ipv6
        default: return .constant(false)
        }
        if let only { return .constant(only == Int(version)) }
        return hasVersion(version)
    }

    private func ppp(_ type: UInt32) -> FilterNode {
        let number: UInt32 =
            switch type {
            case FilterPayload.ipv4: UInt32(PPPProtocol.ipv4)
            case FilterPayload.ipv6: UInt32(PPPProtocol.ipv6)
            case FilterPayload.mpls: UInt32(PPPProtocol.mplsUnicast)
            case FilterPayload.decnet: PPP.decnet
            case FilterPayload.appleTalk: PPP.appleTalk
            case FilterPayload.xns: PPP.xns
            case FilterPayload.iso: PPP.iso
            case FilterPayload.spanningTree: PPP.spanningTree
            case FilterPayload.ipx: PPP.ipx
            default: type
            }
        return .equal(load(2, typeAt), number)
    }

    private func frameRelay(_ type: UInt32) -> FilterNode {
        switch type {
        case FilterPayload.ipv4: .equal(load(2, typeAt), FrameRelay.unnumbered | FrameRelay.ipv4)
        case FilterPayload.ipv6: .equal(load(2, typeAt), FrameRelay.unnumbered | FrameRelay.ipv6)
        case FilterPayload.iso:
            .member(
                load(2, typeAt), mask: .max,
                [FrameRelay.unnumbered | ISOProtocol.clnp...FrameRelay.unnumbered | ISOProtocol.isis])
        default: .constant(false)
        }
    }

    private func arcnet(_ type: UInt32) -> FilterNode {
        /// The ARCNET system codes (RFC 1201, and the ATA registry).
        let codes: [UInt32: UInt32] = [
            FilterPayload.ipv4: 0xD4, FilterPayload.ipv6: 0xC4, FilterPayload.arp: 0xD5,
            FilterPayload.reverseARP: 0xD6, FilterPayload.appleTalk: 0xDD,
        ]
        return codes[type].map { .equal(load(1, typeAt), $0) } ?? .constant(false)
    }

    /// Returns a test for IEEE 802.2, followed by SNAP if the type is an Ethernet type.
    private func llcType(_ type: UInt32) -> FilterNode {
        let data = typeAt - 6
        switch type {
        case FilterPayload.iso, FilterPayload.ipLLC, FilterPayload.netbeui:
            return .equal(load(2, data), Self.doubled(type))
        case FilterPayload.appleTalk: return snap(FilterPayload.appleOrganization, type, data)
        default: return type > FilterPayload.maximumLength ? .equal(load(2, typeAt), type) : .equal(load(1, data), type)
        }
    }

    /// Returns a test for the innermost MPLS label, and for the IP version in the first half byte after this label.
    private func overMPLS(_ type: UInt32) -> FilterNode {
        let bottom = FilterNode.equal(load(1, networkAt - 2), 1, mask: 1)
        switch type {
        case FilterPayload.ipv4: return .all([bottom, hasVersion(IPVersion.ipv4)])
        case FilterPayload.ipv6: return .all([bottom, hasVersion(IPVersion.ipv6)])
        default: return .constant(false)
        }
    }

    private var hasLength: FilterNode {
        .not(.test(load(2, typeAt), mask: .max, .greater, FilterPayload.maximumLength))
    }

    private func ethernet(_ type: UInt32) -> FilterNode {
        let data = typeAt + 2
        switch type {
        case FilterPayload.iso, FilterPayload.ipLLC, FilterPayload.netbeui:
            return .all([hasLength, .equal(load(2, data), Self.doubled(type))])
        case FilterPayload.ipx:
            let encapsulated = FilterNode.any([
                .equal(load(1, data), FilterPayload.ipx), snapIPX(data), .equal(load(2, data), FilterPayload.rawIPX),
            ])
            return .any([.all([hasLength, encapsulated]), .equal(load(2, typeAt), FilterPayload.ipxEthernet)])
        case FilterPayload.appleTalk, FilterPayload.appleTalkARP:
            let organization = Self.organization(type)
            return .any([.all([hasLength, snap(organization, type, data)]), .equal(load(2, typeAt), type)])
        default:
            guard type <= FilterPayload.maximumLength else { return .equal(load(2, typeAt), type) }
            return .all([hasLength, .equal(load(1, data), type)])
        }
    }

    private func cooked(_ type: UInt32) -> FilterNode {
        let data = networkAt
        let isLLC = FilterNode.equal(load(2, typeAt), UInt32(CookedProtocol.llc))
        switch type {
        case FilterPayload.iso, FilterPayload.ipLLC, FilterPayload.netbeui:
            return .all([isLLC, .equal(load(2, data), Self.doubled(type))])
        case FilterPayload.ipx:
            return .any([
                .all([isLLC, .any([.equal(load(1, data), FilterPayload.ipx), snapIPX(data)])]),
                .equal(load(2, typeAt), UInt32(CookedProtocol.raw8023)),
                .equal(load(2, typeAt), FilterPayload.ipxEthernet),
            ])
        case FilterPayload.appleTalk, FilterPayload.appleTalkARP:
            let organization = Self.organization(type)
            return .any([.all([isLLC, snap(organization, type, data)]), .equal(load(2, typeAt), type)])
        default:
            guard type <= FilterPayload.maximumLength else { return .equal(load(2, typeAt), type) }
            return .all([isLLC, .equal(load(1, data), type)])
        }
    }

    private func snap(_ organization: UInt32, _ type: UInt32, _ data: Int) -> FilterNode {
        .all([
            .equal(load(4, data), Self.snapHeader | organization >> 16),
            .equal(load(4, data + 4), (organization & 0xFFFF) << 16 | type),
        ])
    }
}
