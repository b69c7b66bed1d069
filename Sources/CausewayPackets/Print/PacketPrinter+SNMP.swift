/// Prints SNMP (RFC 3416) with the names and values in each message.
extension PacketPrinter {
    /// An element in the ASN.1 basic encoding rules (ITU-T X.690 §8).
    private struct Element {
        var tag: UInt8
        var content: Range<Int>
    }

    private enum Tag {
        static let integer: UInt8 = 2
        static let text: UInt8 = 4
        static let null: UInt8 = 5
        static let name: UInt8 = 6
        static let sequence: UInt8 = 0x30
        static let address: UInt8 = 0x40
        static let counter: UInt8 = 0x41
        static let gauge: UInt8 = 0x42
        static let ticks: UInt8 = 0x43
        static let wideCounter: UInt8 = 0x46
        static let noObject: UInt8 = 0x80
        static let noInstance: UInt8 = 0x81
        static let endOfView: UInt8 = 0x82
        static let get: UInt8 = 0xA0
        static let getNext: UInt8 = 0xA1
        static let trap: UInt8 = 0xA4
        static let getBulk: UInt8 = 0xA5
        /// The tags for SNMP's message types, which are consecutive numbers.
        static let kinds: ClosedRange<UInt8> = 0xA0...0xA8
    }
    private static let kindNames: [StaticString] = [
        "GetRequest", "GetNextRequest", "GetResponse", "SetRequest", "Trap", "GetBulk", "Inform", "V2Trap", "Report",
    ]
    private static let versions: [Int: StaticString] = [0: "SNMPv1", 1: "SNMPv2c", 3: "SNMPv3"]
    private static let errors: [StaticString] = [
        "noError", "tooBig", "noSuchName", "badValue", "readOnly", "genErr",
    ]
    private static let usualCommunity = Array("public".utf8)

    mutating func snmp(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "snmp"
        out.put(" ")
        let message = try element(p, 0)
        guard message.tag == Tag.sequence else { return wrongElement("SEQ", message) }
        let version = try element(p, message.content.lowerBound)
        guard version.tag == Tag.integer else { return wrongElement("INT", version) }
        let number = try integer(p, version)
        guard let name = Self.versions[number] else { return put("SNMP [version = ", number, "]") }
        if verbosity > 0 {
            out.put("{ ")
            out.put(name)
            out.put(" ")
        }
        // In SNMP version 3, the message follows the security parameters and is mostly encrypted.
        if number != 3 { try community(p, version.content.upperBound) }
        if verbosity > 0 { out.put("} ") }
    }

    private mutating func wrongElement(_ wanted: StaticString, _ found: Element) {
        out.put("[!init ")
        out.put(wanted)
        put(": ", found.tag, "]")
    }

    private mutating func community(_ p: borrowing ByteView, _ offset: Int) throws(WireError) {
        let community = try element(p, offset)
        guard community.tag == Tag.text else { return put("[comm!=STR: ", community.tag, "]") }
        let text = p.clamped(community.content)
        if verbosity > 0 || text.array != Self.usualCommunity {
            out.put("C=\"")
            visible(text)
            out.put("\" ")
        }
        let kind = try element(p, community.content.upperBound)
        guard Tag.kinds.contains(kind.tag) else { return put("[PDU type ", kind.tag, "]") }
        if verbosity > 0 { out.put("{ ") }
        out.put(Self.kindNames[Int(kind.tag - Tag.get)])
        put("(", kind.content.count, ") ")
        if kind.tag == Tag.trap { try trap(p, kind.content.lowerBound) } else { try request(p, kind) }
        if verbosity > 0 { out.put(" } ") }
    }

    private mutating func request(_ p: borrowing ByteView, _ kind: Element) throws(WireError) {
        let identifier = try element(p, kind.content.lowerBound)
        if verbosity > 0 { put("R=", try integer(p, identifier), " ") }
        let status = try element(p, identifier.content.upperBound)
        let index = try element(p, status.content.upperBound)
        let (error, place) = (try integer(p, status), try integer(p, index))
        if kind.tag == Tag.getBulk {
            put(" N=", error)
            put(" M=", place)
        } else if error != 0 {
            out.put(" ")
            if error < Self.errors.count, error > 0 { out.put(Self.errors[error]) } else { put("", error) }
            if place != 0 { put("@", place) }
        }
        let asksOnly = [Tag.get, Tag.getNext, Tag.getBulk].contains(kind.tag)
        try bindings(p, index.content.upperBound, asksOnly: asksOnly)
    }

    private static let trapNames: [StaticString] = [
        "coldStart", "warmStart", "linkDown", "linkUp", "authenticationFailure", "egpNeighborLoss",
        "enterpriseSpecific",
    ]

    /// Prints a version 1 trap (RFC 1157 §4.1.6).
    private mutating func trap(_ p: borrowing ByteView, _ offset: Int) throws(WireError) {
        out.put(" ")
        let enterprise = try element(p, offset)
        try value(p, enterprise)
        out.put(" ")
        let agent = try element(p, enterprise.content.upperBound)
        try value(p, agent)
        out.put(" ")
        let generic = try element(p, agent.content.upperBound)
        let specific = try element(p, generic.content.upperBound)
        let number = try integer(p, generic)
        if number >= 0, number < Self.trapNames.count { out.put(Self.trapNames[number]) } else { put("", number) }
        if number == Self.trapNames.count - 1 { put(" s=", try integer(p, specific)) }
        let time = try element(p, specific.content.upperBound)
        out.put(" ")
        try value(p, time)
        try bindings(p, time.content.upperBound, asksOnly: false)
    }

    private mutating func bindings(_ p: borrowing ByteView, _ offset: Int, asksOnly: Bool) throws(WireError) {
        let list = try element(p, offset)
        var next = list.content.lowerBound
        while next < list.content.upperBound {
            out.put(" ")
            let binding = try element(p, next)
            let name = try element(p, binding.content.lowerBound)
            try value(p, name)
            if !asksOnly {
                out.put("=")
                try value(p, try element(p, name.content.upperBound))
            }
            next = binding.content.upperBound
        }
    }

    /// Parses an element's header. Its content may be truncated.
    private func element(_ p: borrowing ByteView, _ offset: Int) throws(WireError) -> Element {
        let tag = try p.u8(offset)
        let first = try p.u8(offset + 1)
        var start = offset + 2
        var count = Int(first)
        if first & 0x80 != 0 {
            let digits = Int(first & 0x7F)
            guard digits <= 4 else { throw .invalid("length", at: offset + 1) }
            count = 0
            for index in 0..<digits { count = count << 8 | Int(try p.u8(start + index)) }
            start += digits
        }
        return Element(tag: tag, content: start..<start + count)
    }

    private func integer(_ p: borrowing ByteView, _ element: Element) throws(WireError) -> Int {
        try p.require(element.content.count, at: element.content.lowerBound)
        guard element.content.count <= 8 else { throw .invalid("integer length", at: element.content.lowerBound) }
        var value = 0
        for index in element.content {
            let byte = p[index]
            if index == element.content.lowerBound, byte & 0x80 != 0 { value = -1 }
            value = value << 8 | Int(byte)
        }
        return value
    }

    private mutating func value(_ p: borrowing ByteView, _ element: Element) throws(WireError) {
        try p.require(element.content.count, at: element.content.lowerBound)
        let content = p.clamped(element.content)
        switch element.tag {
        case Tag.integer: put("", try integer(p, element))
        case Tag.counter, Tag.gauge, Tag.ticks, Tag.wideCounter: unsigned(content)
        case Tag.text: text(content)
        case Tag.name: name(content)
        case Tag.null: break
        case Tag.address: dotted(content)
        case Tag.noObject: out.put("[noSuchObject]")
        case Tag.noInstance: out.put("[noSuchInstance]")
        case Tag.endOfView: out.put("[endOfMibView]")
        default: putHex("[tag 0x", element.tag, width: 2, "]")
        }
    }

    private mutating func unsigned(_ p: borrowing ByteView) {
        var value: UInt64 = 0
        for index in 0..<p.count { value = value << 8 | UInt64(p[index]) }
        put("", value)
    }

    /// Prints quoted text, or hexadecimal bytes if the value is not text.
    private mutating func text(_ p: borrowing ByteView) {
        var isText = true
        for index in 0..<p.count where !(0x20..<0x7F).contains(p[index]) && !(0x09...0x0D).contains(p[index]) {
            isText = false
        }
        guard !isText else {
            out.put("\"")
            visible(p)
            return out.put("\"")
        }
        for index in 0..<p.count {
            if index > 0 { out.put("_") }
            out.hex(p[index], width: 2)
        }
    }

    private mutating func dotted(_ p: borrowing ByteView) {
        for index in 0..<p.count {
            if index > 0 { out.put(".") }
            put("", p[index])
        }
    }

    /// Prints an object identifier. Its first byte holds two numbers.
    private mutating func name(_ p: borrowing ByteView) {
        var value: UInt64 = 0
        var isFirst = true
        for index in 0..<p.count {
            value = value << 7 | UInt64(p[index] & 0x7F)
            if p[index] & 0x80 != 0 { continue }
            if isFirst {
                put(".", min(value / 40, 2))
                value -= min(value / 40, 2) * 40
                isFirst = false
            }
            put(".", value)
            value = 0
        }
    }
}
