/// Prints wireless frames (IEEE 802.11 §9), whose numbers are little-endian.
extension PacketPrinter {
    /// The frame control field, which determines the header length.
    private struct FrameControl {
        static let management: UInt16 = 0
        static let control: UInt16 = 1
        static let data: UInt16 = 2
        let value: UInt16

        var type: UInt16 { value >> 2 & 3 }
        var subtype: UInt8 { UInt8(value >> 4 & 15) }
        var isProtected: Bool { value & 0x4000 != 0 }
        private var hasOrder: Bool { value & 0x8000 != 0 }
        private var hasFourAddresses: Bool { value & 0x0300 == 0x0300 }
        private var hasQuality: Bool { subtype & 8 != 0 }
        var isNull: Bool { subtype & 4 != 0 }

        var headerLength: Int {
            if type == Self.management { return 24 + (hasOrder ? 4 : 0) }
            return 24 + (hasFourAddresses ? 6 : 0) + (hasQuality ? 2 + (hasOrder ? 4 : 0) : 0)
        }
    }

    func little16(_ p: borrowing ByteView, _ offset: Int) throws(WireError) -> UInt16 { try p.u16(offset).byteSwapped }

    /// - Parameter isPadded: Whether the header is padded to a multiple of four bytes.
    mutating func wireless(_ p: borrowing ByteView, _ length: Int, isPadded: Bool = false) throws(WireError) {
        part = "802.11"
        let frame = FrameControl(value: try little16(p, 0))
        let header = isPadded ? (frame.headerLength + 3) & ~3 : frame.headerLength
        switch frame.type {
        case FrameControl.management:
            try p.require(header, at: 0)
            try management(p.from(header), frame.subtype, frame.isProtected, try MACAddress(p, at: 10))
        case FrameControl.control: try controlFrame(p, frame.subtype)
        case FrameControl.data:
            try p.require(header, at: 0)
            if frame.isNull { return }
            if frame.isProtected {
                out.put("Data")
                return try initializationVector(p.from(header))
            }
            try llc(p.from(header), length - header, p.from(4))
        default: put("Unknown frame type (", frame.type, ")")
        }
    }

    private mutating func initializationVector(_ p: borrowing ByteView) throws(WireError) {
        try p.require(8, at: 0)
        let word = try p.u32(0).byteSwapped
        out.put(" IV:")
        let vector = word & 0xFF_FFFF
        for limit in [0x100, 0x10] as [UInt32] where vector < limit { out.put(" ") }
        out.hex(vector)
        putHex(" Pad ", word >> 24 & 0x3F)
        putHex(" KeyID ", word >> 30)
    }

    /// Control frame subtypes (IEEE 802.11 §9.2.4.1.3).
    private enum ControlSubtype {
        static let blockAckRequest: UInt8 = 8
        static let powerSavePoll: UInt8 = 10
        static let requestToSend: UInt8 = 11
    }

    private static let controlNames: [UInt8: StaticString] = [
        8: "Block Ack Request", 9: "Block Ack", 10: "Power Save-Poll", 11: "Request-To-Send", 12: "Clear-To-Send",
        13: "Acknowledgment", 14: "CF-End", 15: "CF-End+CF-Ack",
    ]

    private mutating func controlFrame(_ p: borrowing ByteView, _ subtype: UInt8) throws(WireError) {
        guard let name = Self.controlNames[subtype] else { return out.put("Unrecognized Ctrl Subtype") }
        out.put(name)
        switch subtype {
        case ControlSubtype.blockAckRequest:
            wirelessAddress(" RA:", try MACAddress(p, at: 4))
            wirelessAddress(" TA:", try MACAddress(p, at: 10))
            putHex(" CTL(", try little16(p, 16))
            put(") SEQ(", try little16(p, 18), ") ")
        case ControlSubtype.powerSavePoll: putHex(" AID(", try little16(p, 2), ")")
        case ControlSubtype.requestToSend:
            wirelessAddress(" TA:", try MACAddress(p, at: 10))
            out.put(" ")
        default:
            wirelessAddress(" RA:", try MACAddress(p, at: 4))
            out.put(" ")
        }
    }

    private mutating func wirelessAddress(_ before: StaticString, _ address: MACAddress) {
        out.put(before)
        out.mac(address.bits)
    }

    /// Management frame subtypes (IEEE 802.11 §9.2.4.1.3).
    private enum ManagementSubtype {
        static let associationRequest: UInt8 = 0
        static let associationResponse: UInt8 = 1
        static let reassociationRequest: UInt8 = 2
        static let reassociationResponse: UInt8 = 3
        static let probeRequest: UInt8 = 4
        static let probeResponse: UInt8 = 5
        static let beacon: UInt8 = 8
        static let disassociation: UInt8 = 10
        static let authentication: UInt8 = 11
        static let deauthentication: UInt8 = 12
        static let action: UInt8 = 13
    }

    private static let managementNames: [UInt8: StaticString] = [
        0: "Assoc Request", 1: "Assoc Response", 2: "ReAssoc Request", 3: "ReAssoc Response", 4: "Probe Request",
        5: "Probe Response", 8: "Beacon", 9: "ATIM", 10: "Disassociation", 11: "Authentication",
        12: "DeAuthentication", 13: "Action",
    ]
    private enum Capability {
        static let network: UInt16 = 0x0001
        static let privacy: UInt16 = 0x0010
    }

    private mutating func management(
        _ p: borrowing ByteView, _ subtype: UInt8, _ isProtected: Bool, _ source: MACAddress
    ) throws(WireError) {
        guard let name = Self.managementNames[subtype] else {
            putHex("Unhandled Management subtype(", subtype)
            return out.put(")")
        }
        out.put(name)
        if isProtected, subtype != ManagementSubtype.beacon { return try initializationVector(p) }
        switch subtype {
        case ManagementSubtype.associationRequest: try elements(p, 4, nil)
        case ManagementSubtype.associationResponse, ManagementSubtype.reassociationResponse: try association(p)
        case ManagementSubtype.reassociationRequest:
            try elements(p, 10, nil, withRates: false)
            wirelessAddress(" AP : ", try MACAddress(p, at: 4))
        case ManagementSubtype.probeRequest: try elements(p, 0, nil)
        case ManagementSubtype.probeResponse: try elements(p, 12, try little16(p, 10))
        case ManagementSubtype.beacon: try elements(p, 12, try little16(p, 10), isBeacon: true)
        case ManagementSubtype.disassociation:
            out.put(": ")
            reason(try little16(p, 0))
        case ManagementSubtype.authentication: try authentication(p)
        case ManagementSubtype.deauthentication:
            wirelessAddress(" (", source)
            out.put("): ")
            reason(try little16(p, 0))
        case ManagementSubtype.action:
            wirelessAddress(" (", source)
            put("): Category#", try p.u8(0))
            put(" Act#", try p.u8(1))
        default: break
        }
    }

    private mutating func association(_ p: borrowing ByteView) throws(WireError) {
        let (capability, status) = (try little16(p, 0), try little16(p, 2))
        putHex(" AID(", try little16(p, 4) & 0x3FFF, ") :")
        out.put(capability & Capability.privacy != 0 ? " PRIVACY : " : ": ")
        self.status(status)
    }

    private mutating func authentication(_ p: borrowing ByteView) throws(WireError) {
        let (method, number, status) = (try little16(p, 0), try little16(p, 2), try little16(p, 4))
        let methods: [StaticString] = ["Open System", "Shared Key", "[Reserved]"]
        out.put(" (")
        out.put(methods[min(Int(method), 2)])
        putHex(")-", number, ": ")
        // As tcpdump does, print the status code only if the authentication message has an odd sequence number.
        if number % 2 != 0 { self.status(status) }
    }

    private mutating func status(_ number: UInt16) {
        let names: [UInt16: StaticString] = [
            0: "Successful", 1: "Unspecified failure",
            12: "Association denied due to reason outside the scope of the standard",
            17: "Association denied because AP is unable to handle additional associated stations",
        ]
        out.put(names[number] ?? "n/a")
    }

    private mutating func reason(_ number: UInt16) {
        let names: [StaticString] = [
            "Reserved", "Unspecified reason", "Previous authentication no longer valid",
            "Deauthenticated because sending STA is leaving (or has left) IBSS or ESS",
            "Disassociated due to inactivity",
            "Disassociated because AP is unable to handle all currently  associated stations",
            "Class 2 frame received from nonauthenticated station",
            "Class 3 frame received from nonassociated station",
            "Disassociated because sending STA is leaving (or has left) BSS",
            "Station requesting (re)association is not authenticated with responding station",
        ]
        out.put(Int(number) < names.count ? names[Int(number)] : "Reserved")
    }

    private enum Element {
        static let name: UInt8 = 0
        static let rates: UInt8 = 1
        static let channel: UInt8 = 3
    }

    /// Prints the network name, its rates and its channel. If bytes are missing, prints the complete elements and then
    /// throws.
    private mutating func elements(
        _ p: borrowing ByteView, _ start: Int, _ capability: UInt16?, withRates: Bool = true, isBeacon: Bool = false
    ) throws(WireError) {
        var (name, rates): (Range<Int>?, Range<Int>?)
        var channel: UInt8?
        var offset = start
        var isWhole = start <= p.count
        while isWhole, offset < p.count {
            guard offset + 2 <= p.count, p.holds(Int(p[offset + 1]), at: offset + 2) else {
                isWhole = false
                break
            }
            let content = offset + 2..<offset + 2 + Int(p[offset + 1])
            switch p[offset] {
            case Element.name where name == nil: name = content
            case Element.rates where rates == nil && !content.isEmpty: rates = content
            case Element.channel where channel == nil && content.count == 1: channel = p[content.lowerBound]
            default: break
            }
            offset = content.upperBound
        }
        if let name {
            out.put(" (")
            visible(p.clamped(name))
            out.put(")")
        }
        if let rates, withRates { self.rates(p.clamped(rates)) }
        if let capability {
            if isBeacon { out.put(capability & Capability.network != 0 ? " ESS" : " IBSS") }
            if let channel { put(" CH: ", channel) }
            if capability & Capability.privacy != 0 { out.put(", PRIVACY") }
        }
        if !isWhole { throw .truncated(needed: 1, available: 0, at: p.count) }
    }

    /// Prints rates in units of 500 kbit/s. The highest bit marks a basic rate, which every station must support.
    private mutating func rates(_ p: borrowing ByteView) {
        for index in 0..<p.count {
            out.put(index == 0 ? " [" : " ")
            halves(p[index] & 0x7F)
            if p[index] & 0x80 != 0 { out.put("*") }
        }
        out.put(" Mbit]")
    }

    mutating func halves(_ rate: UInt8) {
        put("", rate / 2)
        out.put(rate % 2 == 0 ? ".0" : ".5")
    }
}
