/// A tunnel over UDP with its own header: its conditions, and the offset of its payload.
struct FilterTunnel {
    var isGeneve: Bool
    /// The virtual network, if only one is meant.
    var network: UInt32?
    /// The first slot that may be used.
    var slot: Int

    /// Geneve carries frames, or IP without one: then the type and the network layer are counted from two places.
    var slotCount: Int { isGeneve ? 2 : 1 }

    private static let udpLength = 8
    private static let headerLength = 8
    /// Transparent Ethernet bridging, as Geneve's protocol type.
    private static let bridging: UInt32 = 0x6558
    /// From a frame's beginning to its type, and to what follows.
    private static let (frameTypeAt, frameLength): (UInt32, UInt32) = (12, 14)

    /// - Parameter at: A load of some bytes from the beginning of UDP's header on.
    func nodes(_ at: (Int, Int) -> FilterLoad) -> [FilterNode] {
        let header = Self.udpLength
        let port: UInt32 = isGeneve ? 6081 : 4789
        let flags = isGeneve ? FilterNode.equal(at(1, header), 0, mask: 0xC0) : .equal(at(1, header), 0x08, mask: 0x08)
        var nodes = [FilterNode.equal(at(2, 2), port), flags]
        if let network { nodes.append(.equal(at(4, header + 4), network << 8, mask: 0xFFFF_FF00)) }
        let start = at(1, header)
        let place = FilterExpression.binary(.place(start.place), .add, .number(UInt32(start.offset)))
        guard isGeneve else {
            return nodes + [.mark(slot: slot, .binary(place, .add, .number(UInt32(Self.headerLength))))]
        }
        return nodes + [content(of: start, place, isFrame: .equal(at(2, header + 2), Self.bridging))]
    }

    /// Where Geneve's content lies, behind options whose length the header tells in units of four bytes.
    private func content(of start: FilterLoad, _ place: FilterExpression, isFrame: FilterNode) -> FilterNode {
        let first = FilterExpression.load(size: 1, offset: start.offset, place: start.place, index: .number(0))
        let options = FilterExpression.binary(.binary(first, .and, .number(0x3F)), .left, .number(2))
        let length = FilterExpression.binary(options, .add, .number(UInt32(Self.headerLength)))
        let end = FilterExpression.binary(place, .add, length)
        // Without a frame, Geneve's own type is where a frame's would be, and what follows lies as if a frame were before it.
        let typeAt = FilterExpression.binary(place, .subtract, .number(Self.frameTypeAt - 2))
        return .any([
            .all([isFrame, .mark(slot: slot, end), .mark(slot: slot + 1, end)]),
            .all([
                .mark(slot: slot, typeAt),
                .mark(slot: slot + 1, .binary(end, .subtract, .number(Self.frameLength))),
            ]),
        ])
    }
}
