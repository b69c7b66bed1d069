/// Finds IEEE 802.11 headers and tests their fields. These headers, and the capture headers before them, have variable lengths.
extension FilterLayout {
    /// Bits of the frame control field (IEEE 802.11 §9.2.4.1). Its first byte contains the type, and its second byte
    /// contains flags.
    enum FrameControl {
        static let typeMask: UInt32 = 0x0C
        static let subtypeMask: UInt32 = 0xF0
        static let management: UInt32 = 0x00
        static let control: UInt32 = 0x04
        static let data: UInt32 = 0x08
        /// Control frame subtypes.
        static let clearToSend: UInt32 = 0xC0
        static let acknowledgement: UInt32 = 0xD0
        /// The subtype bit for data frames with a QoS field.
        static let qualityOfService: UInt32 = 0x80
        static let toDistribution: UInt32 = 0x01
        static let fromDistribution: UInt32 = 0x02
        static let distributionMask: UInt32 = 0x03
    }

    /// Bits in radiotap header fields (radiotap.org).
    private enum Radiotap {
        /// Bits in the presence word, which lists the fields. The word is little-endian.
        static let clock: UInt32 = 0x0100_0000
        static let flags: UInt32 = 0x0200_0000
        static let extended: UInt32 = 0x0000_0080
        /// A bit in the radiotap flags. If it is set, the 802.11 header is followed by padding.
        static let padded: UInt32 = 0x20
    }

    /// An AVS header's first word: its version.
    private static let avsVersion: UInt32 = 0x8021_1000
    private static let avsMask: UInt32 = 0xFFFF_F000
    private static let prismHeaderLength: UInt32 = 144
    /// The link type 105 (IEEE 802.11) in the byte order of PPI headers, which is little-endian.
    private static let wirelessInPPI: UInt32 = 0x6900_0000
    /// Lengths of an 802.11 header with three addresses. The first constant is the length without a QoS field, the
    /// second is the length with one.
    private static let headerLength: UInt32 = 24
    private static let qualityHeaderLength: UInt32 = 26

    /// Adds code that computes the start and the end of the 802.11 header, and stores them in BPF scratch memory.
    mutating func findWirelessHeaders() {
        switch linkType {
        case .wireless: break
        case .wirelessRadio, .wirelessPPI: beginsBehind([.mark(slot: 0, .littleEndian16(2))])
        case .wirelessAVS: beginsBehind([.mark(slot: 0, .word(4))])
        default:
            // This link type is meant for Prism headers, whose length is fixed. Some drivers also use it for AVS
            // headers, and these state their length.
            let isAVS = FilterNode.equal(FilterLoad(size: 4, offset: 0), Self.avsVersion, mask: Self.avsMask)
            beginsBehind([
                .any([.all([isAVS, .mark(slot: 0, .word(4))]), .mark(slot: 0, .number(Self.prismHeaderLength))])
            ])
        }
        // PPI headers state the link type that follows. Only 802.11 is supported.
        if linkType == .wirelessPPI { prologue.require(.equal(FilterLoad(size: 4, offset: 4), Self.wirelessInPPI)) }
        let payload = prologue.reserve()
        prologue.add(payload, .all(payloadMarks(payload)))
        slot = payload
    }

    private mutating func beginsBehind(_ nodes: [FilterNode]) {
        let slot = prologue.reserve()
        prologue.add(slot, .all(nodes))
        linkHeader.slot = slot
    }

    /// Computes where the payload begins. The 802.11 header before the payload has 24 bytes, or 26 bytes in a data
    /// frame with a QoS field. If the radiotap header states that a data frame is padded, the position is rounded up to
    /// a multiple of four.
    private func payloadMarks(_ payload: Int) -> [FilterNode] {
        func end(_ length: UInt32) -> FilterNode {
            .mark(slot: payload, .binary(.place(linkHeader.place), .add, .number(length)))
        }
        let isData = FilterNode.all([isSet(FrameControl.data), .not(isControl)])
        let length = FilterNode.any([
            .all([isData, isSet(FrameControl.qualityOfService), end(Self.qualityHeaderLength)]), end(Self.headerLength),
        ])
        guard linkType == .wirelessRadio else { return [length] }
        func present(_ mask: UInt32) -> FilterNode { .not(.equal(FilterLoad(size: 4, offset: 4), 0, mask: mask)) }
        func isPadded(_ offset: Int) -> FilterNode {
            .not(.equal(FilterLoad(size: 1, offset: offset), 0, mask: Radiotap.padded))
        }
        let hasClock = present(Radiotap.clock)
        let padded = FilterNode.all([
            isData, present(Radiotap.flags), .not(present(Radiotap.extended)),
            .any([.all([hasClock, isPadded(16)]), .all([.not(hasClock), isPadded(8)])]),
        ])
        let rounded = FilterExpression.binary(
            .binary(.place(FilterPlace(slot: payload)), .add, .number(3)), .and, .number(0xFFFF_FFFC))
        // The second node is always true, so it does not decide anything. It is needed because it moves the payload
        // position if the header is padded.
        return [length, .not(.all([padded, .not(.mark(slot: payload, rounded))]))]
    }

    /// Returns a test for a bit in the byte with the frame's type.
    private func isSet(_ mask: UInt32) -> FilterNode { .not(.equal(linkHeader.load(1, 0), 0, mask: mask)) }
    private var isControl: FilterNode { isSet(FrameControl.control) }
    private var isToDistribution: FilterNode {
        .not(.equal(linkHeader.load(1, 1), 0, mask: FrameControl.toDistribution))
    }
    private var isFromDistribution: FilterNode {
        .not(.equal(linkHeader.load(1, 1), 0, mask: FrameControl.fromDistribution))
    }

    /// A test for data frames. Their payload begins with an LLC header.
    var carriesData: FilterNode { .all([.not(isControl), isSet(FrameControl.data)]) }

    /// Returns a test for the frame's source address. The To DS and From DS bits determine the position of this
    /// address.
    func wirelessSource(_ test: (Int) -> FilterNode) -> FilterNode {
        let relayed = FilterNode.any([
            .all([isToDistribution, test(24)]), .all([.not(isToDistribution), test(16)]),
        ])
        let ofData = FilterNode.any([
            .all([isFromDistribution, relayed]), .all([.not(isFromDistribution), test(10)]),
        ])
        return .all([.not(isControl), ofDataOrOther(ofData, test(10))])
    }

    func wirelessDestination(_ test: (Int) -> FilterNode) -> FilterNode {
        let ofData = FilterNode.any([
            .all([isToDistribution, test(16)]), .all([.not(isToDistribution), test(4)]),
        ])
        return .all([.not(isControl), ofDataOrOther(ofData, test(4))])
    }

    /// Returns a test that applies `ofData` to data frames and `other` to all other frames.
    private func ofDataOrOther(_ ofData: FilterNode, _ other: FilterNode) -> FilterNode {
        let isData = isSet(FrameControl.data)
        return .any([.all([isData, ofData]), .all([.not(isData), other])])
    }

    /// Returns a filter node that tests a frame's type or subtype.
    private func hasFrameControl(_ value: UInt32, mask: UInt32) -> FilterNode {
        .equal(linkHeader.load(1, 0), value, mask: mask)
    }

    /// Returns a test for one address of a wireless frame; `nil` if the link type has no such addresses.
    ///
    /// The name is a position or a role: `addr1` to `addr4`, `ra`, `ta`.
    func wirelessAddress(_ name: String, _ bits: UInt64) -> FilterNode? {
        guard addresses == .wireless else { return nil }
        let isControlType = hasFrameControl(FrameControl.control, mask: FrameControl.typeMask)
        // CTS and ACK are control frames with only one address.
        let hasSecond = FilterNode.not(
            .all([
                isControlType,
                .any([
                    hasFrameControl(FrameControl.clearToSend, mask: FrameControl.subtypeMask),
                    hasFrameControl(FrameControl.acknowledgement, mask: FrameControl.subtypeMask),
                ]),
            ]))
        let second = FilterNode.all([hasSecond, address(bits, 10)])
        switch name {
        case "addr1", "address1": return address(bits, 4)
        case "addr2", "address2": return second
        case "addr3", "address3": return .all([.not(isControlType), address(bits, 16)])
        case "addr4", "address4":
            let mask = FrameControl.distributionMask
            return .all([.equal(linkHeader.load(1, 1), mask, mask: mask), address(bits, 24)])
        case "ra": return .all([isSet(FrameControl.data), address(bits, 4)])
        case "ta": return .all([isSet(FrameControl.data), second])
        default: return nil
        }
    }
}

/// The names of 802.11 frame types, subtypes and directions in filter expressions.
enum FilterWirelessNames {
    private typealias FrameControl = FilterLayout.FrameControl

    static let types: [String: UInt32] = [
        "mgt": FrameControl.management, "management": FrameControl.management, "ctl": FrameControl.control,
        "control": FrameControl.control, "data": FrameControl.data,
    ]
    static let directions: [String: UInt32] = [
        "nods": 0, "tods": FrameControl.toDistribution, "fromds": FrameControl.fromDistribution,
        "dstods": FrameControl.distributionMask,
    ]

    /// The subtype names for each frame type.
    static let subtypes: [UInt32: [String: UInt32]] = [
        FrameControl.management: [
            "assocreq": 0x00, "assoc-req": 0x00, "assocresp": 0x10, "assoc-resp": 0x10, "reassocreq": 0x20,
            "reassoc-req": 0x20, "reassocresp": 0x30, "reassoc-resp": 0x30, "probereq": 0x40, "probe-req": 0x40,
            "proberesp": 0x50, "probe-resp": 0x50, "beacon": 0x80, "atim": 0x90, "disassoc": 0xA0,
            "disassociation": 0xA0, "auth": 0xB0, "authentication": 0xB0, "deauth": 0xC0, "deauthentication": 0xC0,
        ],
        FrameControl.control: [
            "ps-poll": 0xA0, "pspoll": 0xA0, "rts": 0xB0, "cts": 0xC0, "ack": 0xD0, "cf-end": 0xE0, "cf-end-ack": 0xF0,
        ],
        FrameControl.data: [
            "data": 0x00, "data-cf-ack": 0x10, "data-cf-poll": 0x20, "data-cf-ack-poll": 0x30, "null": 0x40,
            "cf-ack": 0x50, "cf-poll": 0x60, "cf-ack-poll": 0x70, "qos-data": 0x80, "qos-data-cf-ack": 0x90,
            "qos-data-cf-poll": 0xA0, "qos-data-cf-ack-poll": 0xB0, "qos": 0xC0, "qos-cf-poll": 0xE0,
            "qos-cf-ack-poll": 0xF0,
        ],
    ]

    /// Returns type and subtype for a name that is unique without a type.
    static func subtype(_ name: String) -> (type: UInt32, subtype: UInt32)? {
        for type in subtypes.keys.sorted() {
            if let subtype = subtypes[type]?[name] { return (type, subtype) }
        }
        return nil
    }
}
