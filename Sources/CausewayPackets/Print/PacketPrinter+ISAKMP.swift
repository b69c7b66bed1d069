/// Prints the IPsec key exchange, and IPsec-protected packets.
extension PacketPrinter {
    private enum Version {
        static let one: UInt8 = 1
        static let two: UInt8 = 2
    }
    private enum Flag {
        static let encrypted: UInt8 = 0x01
        static let commit: UInt8 = 0x02
        static let initiator: UInt8 = 0x08
        static let version: UInt8 = 0x10
        static let response: UInt8 = 0x20
    }
    private static let exchanges: [UInt8: StaticString] = [
        0: "none", 1: "base", 2: "ident", 3: "auth", 4: "agg", 5: "inf", 32: "oakley-quick", 33: "oakley-newgroup",
        34: "ikev2_init", 35: "ikev2_auth", 36: "child_sa", 37: "inf2",
    ]
    private static let headerLength = 28

    /// Prints a key exchange message (RFC 2408 §3.1, RFC 7296 §3.1).
    mutating func isakmp(_ p: borrowing ByteView, _ length: Int, _ carrier: Carrier) throws(WireError) {
        part = "isakmp"
        let version = try p.u8(17)
        out.put("isakmp")
        if verbosity > 0 {
            put(" ", version >> 4)
            put(".", version & 15)
        }
        out.put(":")
        try p.require(Self.headerLength, at: 0)
        let (exchange, flags, message) = (try p.u8(18), try p.u8(19), try p.u32(20))
        switch version >> 4 {
        case Version.one:
            put(" phase ", message == 0 ? 1 : 2, message == 0 ? "" : "/others")
            out.put(try side(p, carrier))
            exchangeName(exchange)
            guard flags != 0 else { return }
            out.put("[")
            if flags & Flag.encrypted != 0 { out.put("E") }
            if flags & Flag.commit != 0 { out.put("C") }
            out.put("]")
        case Version.two:
            out.put(message == 0 ? " parent_sa" : " child_sa ")
            exchangeName(exchange)
            guard flags != 0 else { return }
            out.put("[")
            if flags & Flag.initiator != 0 { out.put("I") }
            if flags & Flag.version != 0 { out.put("V") }
            if flags & Flag.response != 0 { out.put("R") }
            out.put("]")
        default: break
        }
    }

    private mutating func exchangeName(_ exchange: UInt8) {
        out.put(" ")
        if let name = Self.exchanges[exchange] { out.put(name) } else { put("#", exchange) }
    }

    /// Returns the letter for the sender's role in a key exchange: I for the initiator, R for the responder. Messages
    /// with the same initiator cookie belong to the same key exchange.
    private mutating func side(_ p: borrowing ByteView, _ carrier: Carrier) throws(WireError) -> StaticString {
        let (initiator, responder) = (try p.u64(0), try p.u64(8))
        if let known = exchangePeers[initiator] {
            if known.isFrom(carrier.source, to: carrier.destination) { return " I" }
            return known.isFrom(carrier.destination, to: carrier.source) ? " R" : " ?"
        }
        guard responder == 0, initiator != 0 else { return " ?" }
        if exchangePeers.count >= Self.conversationLimit { exchangePeers.removeAll(keepingCapacity: true) }
        exchangePeers[initiator] = ExchangePeers(carrier.source, carrier.destination)
        return " I"
    }

    private static let keepAlive: UInt8 = 0xFF

    /// Prints a packet on the NAT traversal port: four zero bytes distinguish the key exchange from protected packets (RFC 3948 §2).
    mutating func encapsulatedSecurity(_ p: borrowing ByteView, _ length: Int, _ carrier: Carrier) throws(WireError) {
        part = "isakmp"
        if length == 1, try p.u8(0) == Self.keepAlive { return out.put("isakmp-nat-keep-alive") }
        guard try p.u32(0) != 0 else {
            out.put("NONESP-encap: ")
            return try isakmp(p.from(4), length - 4, carrier)
        }
        out.put("UDP-encap: ")
        try esp(p, length)
    }

    /// Prints an ESP header (RFC 4303 §2).
    mutating func esp(_ p: borrowing ByteView, _ length: Int) throws(WireError) {
        part = "esp"
        let (index, sequence) = (try p.u32(0), try p.u32(4))
        putHex("ESP(spi=0x", index, width: 8)
        putHex(",seq=0x", sequence)
        put("), length ", length)
    }
}

/// The addresses of the two peers in a key exchange. `source` sent the first message.
struct ExchangePeers: Sendable {
    private let source: (UInt64, UInt64)
    private let destination: (UInt64, UInt64)

    init(_ source: (UInt64, UInt64), _ destination: (UInt64, UInt64)) {
        (self.source, self.destination) = (source, destination)
    }

    func isFrom(_ one: (UInt64, UInt64), to other: (UInt64, UInt64)) -> Bool {
        source == one && destination == other
    }
}
