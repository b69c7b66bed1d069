/// Prints SCTP (RFC 9260): the header and the chunk types.
extension PacketPrinter {
    mutating func sctp(_ p: borrowing ByteView, _ length: Int, _ carrier: Carrier) throws(WireError) {
        part = "sctp"
        guard length >= 12 else {
            addresses(carrier)
            put(": [length ", length)
            out.put(" < 12]")
            return invalid()
        }
        ports(carrier, IPProtocolNumber.sctp.rawValue, try p.u16(0), try p.u16(2))
        out.removeLast(2)
        out.put(": sctp")
        let names: [UInt8: StaticString] = [
            0: "DATA", 1: "INIT", 2: "INIT ACK", 3: "SACK", 4: "HB REQ", 5: "HB ACK", 6: "ABORT", 7: "SHUTDOWN",
            8: "SHUTDOWN ACK",
            9: "OP ERR", 10: "COOKIE ECHO", 11: "COOKIE ACK", 12: "ECN ECHO", 13: "CWR", 14: "SHUTDOWN COMPLETE",
            15: "AUTH",
            130: "RE-CONFIG", 192: "FORWARD TSN", 193: "ASCONF", 128: "ASCONF-ACK",
        ]
        var (offset, number) = (12, 0)
        while offset + 4 <= length {
            let type = try p.u8(offset)
            let size = Int(try p.u16(offset + 2))
            number += 1
            out.put(verbosity > 0 ? "\n\t" : number == 1 ? " " : " ")
            put("(", number, ") [")
            if let name = names[type] { out.put(name) } else { put("unknown chunk type: ", type) }
            out.put("] ")
            guard size >= 4 else {
                put("[bad chunk length ", size, "]")
                return
            }
            try chunk(type, p, offset, size)
            offset += (size + 3) / 4 * 4
        }
    }

    /// Chunk types (IANA registry "SCTP Chunk Types").
    private enum ChunkType {
        static let data: UInt8 = 0
        static let initiation: UInt8 = 1
        static let initiationACK: UInt8 = 2
        static let sack: UInt8 = 3
    }

    /// DATA chunk flags (RFC 9260 §3.3.1).
    private enum DataFlag {
        static let ending: UInt8 = 1
        static let beginning: UInt8 = 2
        static let unordered: UInt8 = 4
    }

    private mutating func chunk(_ type: UInt8, _ p: borrowing ByteView, _ offset: Int, _ size: Int) throws(WireError) {
        switch type {
        case ChunkType.data:
            let flags = try p.u8(offset + 1)
            if flags & DataFlag.beginning != 0 { out.put("(B)") }
            if flags & DataFlag.ending != 0 { out.put("(E)") }
            if flags & (DataFlag.beginning | DataFlag.ending) != 0 { out.put(" ") }
            if flags & DataFlag.unordered != 0 { out.put("(U) ") }
            put("[TSN: ", try p.u32(offset + 4), "] ")
            put("[SID: ", try p.u16(offset + 8), "] ")
            put("[SSEQ ", try p.u16(offset + 10), "] ")
            putHex("[PPID 0x", try p.u32(offset + 12), "] ")
        case ChunkType.initiation, ChunkType.initiationACK:
            put("[init tag: ", try p.u32(offset + 4), "] ")
            put("[rwnd: ", try p.u32(offset + 8), "] ")
            put("[OS: ", try p.u16(offset + 12), "] ")
            put("[MIS: ", try p.u16(offset + 14), "] ")
            put("[init TSN: ", try p.u32(offset + 16), "] ")
        case ChunkType.sack:
            put("[cum ack ", try p.u32(offset + 4), "] ")
            put("[a_rwnd ", try p.u32(offset + 8), "] ")
            put("[#gap acks ", try p.u16(offset + 12), "] ")
            put("[#dup tsns ", try p.u16(offset + 14), "] ")
        default: break
        }
    }
}
