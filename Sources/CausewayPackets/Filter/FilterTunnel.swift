/// Builds filter code for a UDP tunnel with its own header (Geneve or VXLAN). The code tests for the tunnel and
/// computes the payload's offset.
struct FilterTunnel {
    var isGeneve: Bool
    /// The required virtual network identifier, or `nil` for any.
    var network: UInt32?
    /// The first scratch memory slot that holds positions in the tunnel's packet.
    var slot: Int

    /// The number of scratch memory slots that the tunnel uses.
    ///
    /// A Geneve tunnel carries Ethernet frames or bare IP packets. The network layer can therefore have a different
    /// base position from the type field, and each of them needs a slot.
    var slotCount: Int { isGeneve ? 2 : 1 }

    private static let udpLength = 8
    private static let headerLength = 8
    /// Offset to the type field in an Ethernet frame.
    private static let frameTypeAt: UInt32 = 12
    /// Bit masks for the Geneve header's first byte: the version bits, and the option length in 4-byte units (RFC 8926
    /// §3.4).
    private static let geneveVersion: UInt32 = 0xC0
    private static let geneveOptions: UInt32 = 0x3F
    /// The flag in a VXLAN header that is set if the header contains a network identifier (RFC 7348 §5).
    private static let vxlanHasNetwork: UInt32 = 0x08

    /// Returns the filter nodes that recognize the tunnel and compute the position of its payload.
    ///
    /// - Parameter at: Creates a load at an offset from the UDP header.
    func nodes(_ at: (Int, Int) -> FilterLoad) -> [FilterNode] {
        let header = Self.udpLength
        let port = UInt32(isGeneve ? TunnelPort.geneve : TunnelPort.vxlan)
        let flags =
            isGeneve
            ? FilterNode.equal(at(1, header), 0, mask: Self.geneveVersion)
            : .equal(at(1, header), Self.vxlanHasNetwork, mask: Self.vxlanHasNetwork)
        var nodes = [FilterNode.equal(at(2, 2), port), flags]
        if let network { nodes.append(.equal(at(4, header + 4), network << 8, mask: 0xFFFF_FF00)) }
        let start = at(1, header)
        let place = FilterExpression.binary(.place(start.place), .add, .number(UInt32(start.offset)))
        guard isGeneve else {
            return nodes + [.mark(slot: slot, .binary(place, .add, .number(UInt32(Self.headerLength))))]
        }
        return nodes + [
            content(of: start, place, isFrame: .equal(at(2, header + 2), UInt32(EtherType.bridging.rawValue)))
        ]
    }

    /// Computes the Geneve payload position after the options, whose length the header states in 4-byte units.
    private func content(of start: FilterLoad, _ place: FilterExpression, isFrame: FilterNode) -> FilterNode {
        let first = FilterExpression.load(size: 1, offset: start.offset, place: start.place, index: .number(0))
        let options = FilterExpression.binary(.binary(first, .and, .number(Self.geneveOptions)), .left, .number(2))
        let length = FilterExpression.binary(options, .add, .number(UInt32(Self.headerLength)))
        let end = FilterExpression.binary(place, .add, length)
        // If a packet contains no Ethernet frame, its type is in the Geneve header. Choose both base positions so that
        // the offsets for a frame also lead to this type and to the payload.
        let typeAt = FilterExpression.binary(place, .subtract, .number(Self.frameTypeAt - 2))
        return .any([
            .all([isFrame, .mark(slot: slot, end), .mark(slot: slot + 1, end)]),
            .all([
                .mark(slot: slot, typeAt),
                .mark(slot: slot + 1, .binary(end, .subtract, .number(UInt32(EthernetHeader.byteCount)))),
            ]),
        ])
    }
}
