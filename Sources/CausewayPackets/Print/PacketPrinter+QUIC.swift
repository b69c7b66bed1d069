/// Prints QUIC long headers (RFC 9000 §17.2), and the names in the ClientHello that Initial packets carry.
extension PacketPrinter {
    private static let names: [StaticString] = ["initial", "0-rtt", "handshake", "retry"]
    private static let integrityTag = 16

    /// Prints a datagram on the QUIC port. Returns whether it looks like a QUIC packet.
    mutating func quic(
        _ p: borrowing ByteView, _ length: Int, _ ports: (source: UInt16, destination: UInt16), _ carrier: Carrier
    ) throws(WireError) -> Bool {
        guard try quicHeader(p, length) else { return false }
        if let hello = openedInitial(p, ports, carrier)?.hello { clientHello(hello) }
        return true
    }

    /// Checks a datagram on a port other than the QUIC port. If it contains a client's Initial packet, prints it and
    /// returns `true`.
    ///
    /// The authentication tag of the packet must be valid. So a datagram of another protocol is not mistaken for QUIC.
    mutating func quicElsewhere(
        _ p: borrowing ByteView, _ length: Int, _ ports: (source: UInt16, destination: UInt16), _ carrier: Carrier
    ) throws(WireError) -> Bool {
        guard let opened = openedInitial(p, ports, carrier), try quicHeader(p, length) else { return false }
        if let hello = opened.hello { clientHello(hello) }
        return true
    }

    private mutating func openedInitial(
        _ p: borrowing ByteView, _ ports: (source: UInt16, destination: UInt16), _ carrier: Carrier
    ) -> QUICInitials.Opened? {
        guard verbosity > 0 else { return nil }
        let (source, destination) = (carrier.source, carrier.destination)
        return initials?.open(
            p,
            QUICInitials.Flow(
                sourceHigh: source.0, sourceLow: source.1, destinationHigh: destination.0,
                destinationLow: destination.1, sourcePort: ports.source, destinationPort: ports.destination))
    }

    /// Prints the header of the datagram's first QUIC packet. Returns whether the datagram looks like QUIC.
    private mutating func quicHeader(_ p: borrowing ByteView, _ length: Int) throws(WireError) -> Bool {
        guard let first = try? p.u8(0), first & QUICPacketPlace.fixedBit != 0 else { return false }
        guard first & QUICPacketPlace.longHeader != 0 else {
            out.put("quic, protected")
            return true
        }
        guard let version = try? p.u32(1),
            version == QUICPacketPlace.versionOne || version == QUICPacketPlace.versionTwo
        else { return false }
        part = "quic"
        out.put("quic, ")
        let kind = QUICPacketPlace.kind(first, version)
        out.put(Self.names[Int(kind.rawValue)])
        var offset = try identifier(", dcid ", p, 5)
        offset = try identifier(", scid ", p, offset)
        if kind == .retry {
            token(p.clamped(offset, max(offset, length - Self.integrityTag)))
            return true
        }
        if kind == .initial {
            let (count, next) = try p.quicInteger(at: offset)
            try p.require(count, at: next)
            if count > 0 { token(p.clamped(next, next + count)) }
            offset = next + count
        }
        put(", length ", try p.quicInteger(at: offset).value)
        return true
    }

    private mutating func token(_ bytes: borrowing ByteView) {
        out.put(", token ")
        for index in 0..<bytes.count { out.hex(bytes[index], width: 2) }
    }

    /// Prints a connection identifier, which follows its length. Returns the next field's offset.
    private mutating func identifier(
        _ before: StaticString, _ p: borrowing ByteView, _ offset: Int
    ) throws(WireError) -> Int {
        let range = try QUICPacketPlace.identifier(p, at: offset)
        if !range.isEmpty { out.put(before) }
        for index in range { out.hex(p[index], width: 2) }
        return range.upperBound
    }
}
