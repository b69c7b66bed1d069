/// Prints TCP and the protocols over it.
extension PacketPrinter {
    /// Prints a TCP segment (RFC 9293).
    mutating func tcp(_ p: borrowing ByteView, _ whole: Int, _ carrier: Carrier) throws(WireError) {
        part = "tcp"
        guard let source = try? p.u16(0), let destination = try? p.u16(2) else {
            addresses(carrier)
            out.put(": ")
            throw .truncated(needed: 4, available: p.count, at: 0)
        }
        ports(carrier, IPProtocolNumber.tcp.rawValue, source, destination)
        let control = try p.u16(12)
        let header = Int(control >> 12) * 4
        if header < 20 {
            put(" tcp ", whole - header)
            put(" [bad hdr length ", header, " - too short, < 20]")
            return
        }
        var (sequence, acknowledgement) = (try p.u32(4), try p.u32(8))
        let flags = TCPHeader.Flags(rawValue: control & 0x1FF)
        let window = try p.u16(14)
        let length = whole - header
        if options.isQuiet {
            put("tcp ", length)
            if header > whole {
                put(" [bad hdr length ", header)
                put(" - too long, > ", whole, "]")
            }
            return
        }
        let start = relative(source, destination, carrier, flags, &sequence, &acknowledgement)
        tcpFlags(control)
        if header > whole {
            put(" [bad hdr length ", header)
            return put(" - too long, > ", whole, "]")
        }
        if verbosity > 0, !carrier.isFragmented { tcpChecksum(p, whole, carrier) }
        if verbosity > 1 || length > 0 || !flags.isDisjoint(with: [.syn, .fin, .rst]) {
            put(", seq ", sequence)
            if length > 0 { put(":", sequence &+ UInt32(truncatingIfNeeded: length)) }
        }
        if flags.contains(.ack) { put(", ack ", acknowledgement) }
        put(", win ", window)
        if flags.contains(.urg) { put(", urg ", try p.u16(18)) }
        if header > 20, try !tcpOptions(p, header, flags, start) { return }
        put(", length ", length)
        guard length > 0 else { return }
        try tcpContent(p.from(header), length, source, destination, flags, carrier)
    }

    private mutating func tcpFlags(_ control: UInt16) {
        out.put("Flags [")
        if control & 0x1FF == 0 { out.put("none") } else { out.put(TCPHeader.Flags(rawValue: control & 0x1FF)) }
        out.put("]")
    }

    private mutating func tcpChecksum(_ p: borrowing ByteView, _ whole: Int, _ carrier: Carrier) {
        guard p.holds(whole, at: 0), let found = try? p.u16(16) else { return }
        var sum = carrier.pseudoHeader(UInt16(IPProtocolNumber.tcp.rawValue), whole)
        sum.add(p.prefix(whole))
        putHex(", cksum 0x", found, width: 4)
        guard sum.value != 0 else { return out.put(" (correct)") }
        putHex(" (incorrect -> 0x", Self.expected(found, sum), width: 4, ")")
    }

    /// Returns TCP sequence numbers relative to the start of the conversation.
    ///
    /// For a new conversation, records the initial sequence numbers.
    private mutating func relative(
        _ source: UInt16, _ destination: UInt16, _ carrier: Carrier, _ flags: TCPHeader.Flags, _ sequence: inout UInt32,
        _ acknowledgement: inout UInt32
    ) -> (sequence: UInt32, acknowledgement: UInt32, isReverse: Bool) {
        guard !options.absoluteSequence, flags.contains(.ack) else { return (0, 0, false) }
        let (one, other) = (carrier.source, carrier.destination)
        let isReverse = source > destination || (source == destination && (one.0, one.1) > (other.0, other.1))
        let ports =
            isReverse
            ? UInt32(destination) << 16 | UInt32(source) : UInt32(source) << 16 | UInt32(destination)
        let (low, high) = isReverse ? (other, one) : (one, other)
        let key = SequenceTable.Key(lowHigh: low.0, lowLow: low.1, highHigh: high.0, highLow: high.1, ports: ports)
        if let start = sequences.starts[key], !flags.contains(.syn) {
            sequence &-= isReverse ? start.acknowledgement : start.sequence
            acknowledgement &-= isReverse ? start.sequence : start.acknowledgement
            return (start.sequence, start.acknowledgement, isReverse)
        }
        let start =
            isReverse
            ? SequenceTable.Start(sequence: acknowledgement &- 1, acknowledgement: sequence)
            : SequenceTable.Start(sequence: sequence, acknowledgement: acknowledgement &- 1)
        if sequences.starts.count >= Self.conversationLimit { sequences.starts.removeAll(keepingCapacity: true) }
        sequences.starts[key] = start
        return (start.sequence, start.acknowledgement, isReverse)
    }

    /// Option kinds (IANA registry "TCP Option Kind Numbers").
    private enum OptionKind {
        static let endOfList: UInt8 = 0
        static let noOperation: UInt8 = 1
        static let maximumSegmentSize: UInt8 = 2
        static let windowScale: UInt8 = 3
        static let sackPermitted: UInt8 = 4
        static let sack: UInt8 = 5
        static let echo: UInt8 = 6
        static let echoReply: UInt8 = 7
        static let timestamps: UInt8 = 8
        static let connectionCount: UInt8 = 11
        static let connectionCountNew: UInt8 = 12
        static let connectionCountEcho: UInt8 = 13
        static let md5Signature: UInt8 = 19
        static let scpsCapabilities: UInt8 = 20
        static let userTimeout: UInt8 = 28
        static let multipath: UInt8 = 30
        static let fastOpen: UInt8 = 34
        /// The second of the two option kinds for experiments. An experiment identifier follows the option's length
        /// (RFC 6994 §3).
        static let experiment2: UInt8 = 254
    }

    /// The TCP Fast Open experiment identifier (IANA registry "TCP Experimental Option Experiment Identifiers").
    private static let fastOpenExperiment: UInt16 = 0xF989

    static let tcpOptionNames: [UInt8: StaticString] = [
        0: "eol", 1: "nop", 2: "mss", 3: "wscale", 4: "sackOK", 5: "sack", 6: "echo", 7: "echoreply", 8: "TS", 11: "cc",
        12: "ccnew", 13: "", 19: "md5", 20: "scps", 28: "uto", 29: "tcp-ao", 30: "mptcp", 34: "tfo", 254: "exp",
    ]

    /// Prints the options. Returns whether they are valid.
    private mutating func tcpOptions(
        _ p: borrowing ByteView, _ header: Int, _ flags: TCPHeader.Flags,
        _ start: (sequence: UInt32, acknowledgement: UInt32, isReverse: Bool)
    ) throws(WireError) -> Bool {
        out.put(", options [")
        var (offset, isFirst) = (20, true)
        while offset < header {
            if !isFirst { out.put(",") }
            let kind = try p.u8(offset)
            var length = 1
            if kind > OptionKind.noOperation {
                length = Int(try p.u8(offset + 1))
                guard length >= 2, length <= header - offset else { return badOption(isFirst) }
            }
            if let name = Self.tcpOptionNames[kind] { out.put(name) } else { put("unknown-", kind) }
            guard try tcpOption(kind, p, offset + 2, length - 2, header, flags, start) else {
                return badOption(isFirst)
            }
            isFirst = false
            offset += length
            if kind == OptionKind.endOfList { break }
        }
        out.put("]")
        return true
    }

    private mutating func badOption(_ isFirst: Bool) -> Bool {
        out.put(isFirst ? "[bad opt]" : "[bad opt]]")
        return false
    }

    /// Prints one option. Returns whether its length is valid for its kind.
    private mutating func tcpOption(
        _ kind: UInt8, _ p: borrowing ByteView, _ offset: Int, _ length: Int, _ header: Int, _ flags: TCPHeader.Flags,
        _ start: (sequence: UInt32, acknowledgement: UInt32, isReverse: Bool)
    ) throws(WireError) -> Bool {
        var used = length
        switch kind {
        case OptionKind.endOfList, OptionKind.noOperation: return true
        case OptionKind.maximumSegmentSize:
            guard offset + 2 <= header else { return false }
            used = 2
            put(" ", try p.u16(offset))
        case OptionKind.windowScale:
            guard offset + 1 <= header else { return false }
            used = 1
            put(" ", try p.u8(offset))
        case OptionKind.sackPermitted: used = 0
        case OptionKind.sack: try sack(p, offset, length, start)
        case OptionKind.echo, OptionKind.echoReply, OptionKind.connectionCount, OptionKind.connectionCountNew,
            OptionKind.connectionCountEcho:
            guard offset + 4 <= header else { return false }
            used = 4
            put(" ", try p.u32(offset))
        case OptionKind.timestamps:
            guard offset + 8 <= header else { return false }
            used = 8
            put(" val ", try p.u32(offset))
            put(" ecr ", try p.u32(offset + 4))
        case OptionKind.scpsCapabilities:
            guard offset + 2 <= header, length >= 2 else { return false }
            used = 2
            putHex(" cap ", try p.u8(offset), width: 2)
            put(" id ", try p.u8(offset + 1))
        case OptionKind.userTimeout:
            guard offset + 2 <= header else { return false }
            used = 2
            let value = try p.u16(offset)
            putHex(" 0x", value)
            put(" ", value & 0x7FFF, value & 0x8000 != 0 ? "m" : "s")
        case OptionKind.multipath: return try multipath(p, offset, length, flags)
        case OptionKind.fastOpen: try fastOpen(p, offset, length)
        case OptionKind.experiment2:
            guard length >= 2 else { return false }
            putHex("-", try p.u16(offset), width: 4)
            if try p.u16(offset) == Self.fastOpenExperiment {
                out.put(" tfo")
                try fastOpen(p, offset + 2, length - 2)
            } else {
                try bytes(p, offset + 2, length - 2)
            }
        case OptionKind.md5Signature:
            out.put(" ")
            for index in 0..<length { out.hex(try p.u8(offset + index), width: 2) }
        default: try bytes(p, offset, length)
        }
        if used != length { put("[len ", length + 2, "]") }
        return true
    }

    mutating func bytes(_ p: borrowing ByteView, _ offset: Int, _ length: Int) throws(WireError) {
        for index in 0..<max(length, 0) {
            if index == 0 { out.put(" 0x") }
            out.hex(try p.u8(offset + index), width: 2)
        }
    }

    private mutating func fastOpen(_ p: borrowing ByteView, _ offset: Int, _ length: Int) throws(WireError) {
        if length == 0 { return out.put("  cookiereq") }
        out.put(" ")
        guard length % 2 == 0, (4...16).contains(length) else { return out.put(" len error") }
        out.put(" cookie ")
        for index in 0..<length { out.hex(try p.u8(offset + index), width: 2) }
    }

    private mutating func sack(
        _ p: borrowing ByteView, _ offset: Int, _ length: Int,
        _ start: (sequence: UInt32, acknowledgement: UInt32, isReverse: Bool)
    ) throws(WireError) {
        guard length % 8 == 0 else { return out.put(" invalid sack") }
        put(" ", length / 8, " ")
        let base = options.absoluteSequence ? 0 : start.isReverse ? start.sequence : start.acknowledgement
        for place in stride(from: 0, to: length, by: 8) {
            put("{", try p.u32(offset + place) &- base)
            put(":", try p.u32(offset + place + 4) &- base, "}")
        }
    }
}
