/// Prints DHCP option values (RFC 2132).
extension PacketPrinter {
    /// Prints an option's value. If the value is a list and its last element is incomplete, prints only the length of
    /// the rest.
    mutating func value(
        _ format: DHCPOptionFormat.Format, _ p: borrowing ByteView, _ length: Int
    ) throws(WireError) {
        switch format {
        case .addresses: try numbers(p, length, 4) { printer, value in printer.out.ipv4(value) }
        case .addressPairs: try addressPairs(p, length)
        case .bytes: bytes(p, length)
        case .u16: try numbers(p, length, 2) { printer, value in printer.put("", value) }
        case .u32: try numbers(p, length, 4) { printer, value in printer.put("", value) }
        case .i32: try numbers(p, length, 4) { printer, value in printer.put("", Int32(bitPattern: value)) }
        case .flags: try numbers(p, length, 1) { printer, value in printer.flag(value) }
        case .text: quoted(p)
        case .netbiosNode: try code(p, length, [1: "b-node", 2: "p-node", 4: "m-node", 8: "h-node"])
        case .overload: try code(p, length, [1: "file", 2: "sname", 3: "file+sname"])
        case .parameters: parameters(p, length)
        case .clientID: clientID(p, length)
        case .userClass: userClass(p, length)
        case .domainName: try domainName(p, length)
        case .relay: try relay(p, length)
        case .routes: try routes(p, length)
        case .unknown: try value(length % 2 != 0 ? .bytes : length % 4 != 0 ? .u16 : .u32, p, length)
        }
    }

    /// Prints `size`-byte numbers, separated by commas.
    private mutating func numbers(
        _ p: borrowing ByteView, _ length: Int, _ size: Int, _ print: (inout PacketPrinter, UInt32) -> Void
    ) throws(WireError) {
        for offset in stride(from: 0, through: length - size, by: size) {
            if offset > 0 { out.put(",") }
            let value =
                switch size {
                case 1: UInt32(try p.u8(offset))
                case 2: UInt32(try p.u16(offset))
                default: try p.u32(offset)
                }
            print(&self, value)
        }
        trailing(length % size)
    }

    private mutating func addressPairs(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        for offset in stride(from: 0, through: length - 8, by: 8) {
            out.put(offset > 0 ? ",(" : "(")
            out.ipv4(try p.u32(offset))
            out.put(":")
            out.ipv4(try p.u32(offset + 4))
            out.put(")")
        }
        trailing(length % 8)
    }

    private mutating func trailing(_ count: Int) {
        if count > 0 { put("\n\t  trailing data length ", count) }
    }

    /// Prints a Boolean value (RFC 2132 §4.1).
    private mutating func flag(_ value: UInt32) {
        switch value {
        case 0: out.put("N")
        case 1: out.put("Y")
        default: put("", value, "?")
        }
    }

    /// Prints the bytes as decimal numbers, separated by dots.
    private mutating func bytes(_ p: borrowing ByteView, _ length: Int) {
        for index in 0..<length { put(index == 0 ? "" : ".", p[index]) }
    }

    private mutating func quoted(_ p: borrowing ByteView) {
        out.put("\"")
        visible(p)
        out.put("\"")
    }

    /// Prints a one-byte code's name or number.
    private mutating func code(
        _ p: borrowing ByteView, _ length: Int, _ names: [UInt8: StaticString]
    ) throws(WireError) {
        guard length >= 1 else { return tooShort(1) }
        let code = try p.u8(0)
        if let name = names[code] { out.put(name) } else { put("#", code) }
        trailing(length - 1)
    }

    private mutating func tooShort(_ minimum: Int) { put("[ERROR: length < ", minimum, " bytes]") }

    private mutating func parameters(_ p: borrowing ByteView, _ length: Int) {
        for index in 0..<length {
            out.put(index % 4 == 0 ? "\n\t      " : ", ")
            let tag = p[index]
            out.put(DHCPOptionFormat.all[tag]?.name ?? "Unknown")
            put(" (", tag, ")")
        }
    }

    /// Values in a client identifier's first byte that are not hardware types (RFC 2132 §9.14, RFC 4361 §6.1).
    private enum ClientIDType {
        static let text: UInt8 = 0
        static let unique: UInt8 = 255
    }

    private mutating func clientID(_ p: borrowing ByteView, _ length: Int) {
        guard length >= 1 else { return tooShort(1) }
        let type = p[0]
        if type == ClientIDType.text { return quoted(p.from(1)) }
        if type == ClientIDType.unique {
            out.put("hardware-type 255, ")
        } else if type == Self.ethernetHardware {
            out.put("ether ")
        } else {
            put("hardware-type ", type, ", ")
        }
        for index in stride(from: 1, to: length, by: 1) {
            if index > 1 { out.put(":") }
            out.hex(p[index], width: 2)
        }
    }

    /// Prints user class instances (RFC 3004 §4).
    private mutating func userClass(_ p: borrowing ByteView, _ length: Int) {
        guard length >= 2 else { return tooShort(2) }
        var offset = 0
        var number = 1
        while offset < length {
            let size = Int(p[offset])
            put("\n\t      instance#", number, ": ")
            guard size > 0 else { return out.put("[ERROR: suboption length must be non-zero]") }
            guard size < length - offset else { return out.put("[ERROR: invalid option]") }
            quoted(p.clamped(offset + 1, offset + 1 + size))
            put(", length ", size)
            offset += 1 + size
            number += 1
        }
    }

    /// Prints the flags, the two response codes and the name from the Client FQDN option (RFC 4702 §2).
    private mutating func domainName(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        guard length >= 3 else { return tooShort(3) }
        let flags = try p.u8(0)
        if flags & 0xF0 != 0 { putHex("[ERROR: MBZ nibble 0x", flags >> 4, width: 1, " != 0] ") }
        if flags & 0x0F != 0 {
            let names: [(bit: UInt8, name: StaticString)] = [(0x01, "S"), (0x02, "O"), (0x04, "E"), (0x08, "N")]
            out.put("[")
            for (bit, name) in names where flags & bit != 0 { out.put(name) }
            out.put("] ")
        }
        let codes = (first: try p.u8(1), second: try p.u8(2))
        if codes.first != 0 || codes.second != 0 {
            put("", codes.first)
            put("/", codes.second, " ")
        }
        quoted(p.from(3))
    }

    /// Prints destinations with their routers (RFC 3442).
    private mutating func routes(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        guard length >= 5 else { return tooShort(5) }
        var offset = 0
        while offset < length {
            if offset > 0 { out.put(",") }
            let width = Int(try p.u8(offset))
            guard width <= 32 else { return put("[ERROR: Mask width (", width, ") > 32]") }
            offset += 1
            let significant = (width + 7) / 8
            guard length - offset >= significant + 4 else {
                put("[ERROR: Remaining length (", length - offset)
                return put(") < ", significant + 4, " bytes]")
            }
            out.put("(")
            if width == 0 {
                out.put("default")
            } else {
                for index in 0..<4 { put(index > 0 ? "." : "", index < significant ? try p.u8(offset + index) : 0) }
                put("/", width)
            }
            out.put(":")
            out.ipv4(try p.u32(offset + significant))
            out.put(")")
            offset += significant + 4
        }
    }

    /// Prints the information from a relay (RFC 3046 §2.0): identifiers as text, other values in hexadecimal.
    private mutating func relay(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        let names: [UInt8: StaticString] = [1: "Circuit-ID", 2: "Remote-ID", 6: "Subscriber-ID"]
        var offset = 0
        while offset + 2 <= length {
            let (tag, size) = (try p.u8(offset), Int(try p.u8(offset + 1)))
            offset += 2
            out.put("\n\t      ")
            out.put(names[tag] ?? "Unknown")
            put(" SubOption ", tag)
            put(", length ", size, ": ")
            guard size <= length - offset else { return out.put("length goes past end of option") }
            let content = p.clamped(offset, offset + size)
            if names[tag] != nil { visible(content) } else { hex(content, "\n\t\t", false) }
            offset += size
        }
        trailing(length - offset)
    }
}
