internal import CausewayTypes
package import CausewayWire

/// Encodes probe packets, and decodes the answers to them.
package struct ScanProbes: Sendable {
    /// A random key for sequence numbers. A forged answer does not match, because its sender does not know the key (compare RFC 6528 §3).
    private let secret: UInt64
    /// The source port of the first attempt. Each later attempt uses the next port. So an answer shows to which attempt
    /// it belongs.
    package let firstPort: UInt16
    package static let maximumAttempts = 16

    package init(secret: UInt64, firstPort: UInt16) {
        self.secret = secret
        self.firstPort = firstPort
    }

    private func sequence(host: Int, port: UInt16, attempt: Int) -> UInt32 {
        var mixed = secret ^ UInt64(truncatingIfNeeded: host) << 24 ^ UInt64(port) << 8 ^ UInt64(attempt & 255)
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return UInt32(truncatingIfNeeded: mixed ^ mixed >> 31)
    }

    /// The SYN length in bytes.
    package static let synByteCount = 24

    /// Appends a SYN without its IP header. `host` is the host's index in the list.
    ///
    /// The segment is encoded directly: a scan sends thousands per second, for which ``PacketBuilder`` would be too
    /// slow.
    package func appendSyn(
        from source: InternetAddress, to destination: InternetAddress, host: Int, port: UInt16, attempt: Int,
        to bytes: inout [UInt8]
    ) {
        let ports = UInt32(firstPort &+ UInt16(truncatingIfNeeded: attempt)) << 16 | UInt32(port)
        let sequence = sequence(host: host, port: port, attempt: attempt)
        // Header length of six 32-bit words, SYN flag, and the default window of ``TCPHeader``.
        let control: UInt32 = 0x6002_0400
        // The maximum segment size option. Every real SYN has it, and some firewalls drop a SYN without it (RFC 9293
        // §3.7.1).
        let option: UInt32 = 0x0204_05B4
        var checksum = InternetChecksum()
        checksum.add(UInt16(6 + Self.synByteCount))
        checksum.add(ports)
        checksum.add(sequence)
        checksum.add(control)
        checksum.add(option)
        Self.add(source, to: &checksum)
        Self.add(destination, to: &checksum)
        bytes.append(
            inOrder: (
                ports.bigEndian, sequence.bigEndian, 0 as UInt32, control.bigEndian,
                (UInt32(checksum.value) << 16).bigEndian, option.bigEndian
            ))
    }

    private static func add(_ address: InternetAddress, to checksum: inout InternetChecksum) {
        switch address {
        case .ipv4(let address): checksum.add(address.bits)
        case .ipv6(let address):
            checksum.add(UInt32(truncatingIfNeeded: address.high >> 32))
            checksum.add(UInt32(truncatingIfNeeded: address.high))
            checksum.add(UInt32(truncatingIfNeeded: address.low >> 32))
            checksum.add(UInt32(truncatingIfNeeded: address.low))
        }
    }

    /// Decodes a received segment. Returns the port and the attempt to which the segment replies.
    ///
    /// - Parameter host: The sender's index in the list.
    package func synAnswer(
        _ bytes: borrowing ByteView, at offset: Int, host: Int
    ) -> (port: UInt16, attempt: Int, reason: ScanFinding.Reason)? {
        // The packet must contain the whole TCP header. The header's options do not matter.
        guard bytes.holds(20, at: offset), let ports = try? bytes.u32(offset),
            let acknowledged = try? bytes.u32(offset &+ 8), let control = try? bytes.u16(offset &+ 12)
        else { return nil }
        let flags = TCPHeader.Flags(rawValue: control & 0x1FF)
        let attempt = Int(ports & 0xFFFF) - Int(firstPort)
        guard flags.contains(.ack), (0..<Self.maximumAttempts).contains(attempt) else { return nil }
        let port = UInt16(truncatingIfNeeded: ports >> 16)
        guard acknowledged == sequence(host: host, port: port, attempt: attempt) &+ 1 else { return nil }
        if flags.contains(.rst) { return (port, attempt, .reset) }
        return flags.contains(.syn) ? (port, attempt, .synAck) : nil
    }

    /// Returns the port and the attempt of a probe segment. An ICMP error has quoted this segment.
    package func repeated(_ bytes: borrowing ByteView, at offset: Int) -> (port: UInt16, attempt: Int)? {
        guard let source = try? bytes.u16(offset), let port = try? bytes.u16(offset &+ 2) else { return nil }
        let attempt = Int(source) - Int(firstPort)
        return (0..<Self.maximumAttempts).contains(attempt) ? (port, attempt) : nil
    }

    /// Returns a request to which a port's usual service replies; empty if no service is known.
    package static func datagram(for port: UInt16) -> [UInt8] {
        switch port {
        case 53, 5353, 5355:
            // A query for the DNS server's version, in class CH (RFC 4892 §2). Every server sends some reply to it.
            return [0x4E, 0x57, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 7] + Array("version".utf8) + [4] + Array("bind".utf8)
                + [0, 0, 16, 0, 3]
        case 123:
            // An NTP version 4 client request (RFC 5905 §7.3).
            return [0x23] + Array(repeating: 0, count: 47)
        case 161:
            // SNMP GetRequest for sysDescr with the usual default community (RFC 1157 §4.1.2).
            let name: [UInt8] = [0x30, 0x0C, 0x06, 0x08, 0x2B, 6, 1, 2, 1, 1, 1, 0, 5, 0]
            let body: [UInt8] = [2, 1, 1, 2, 1, 0, 2, 1, 0, 0x30, UInt8(name.count)] + name
            let inner: [UInt8] = [2, 1, 0, 4, 6] + Array("public".utf8) + [0xA0, UInt8(body.count)] + body
            return [0x30, UInt8(inner.count)] + inner
        case 69: return [0, 1] + Array("nw".utf8) + [0] + Array("octet".utf8) + [0]
        case 1900:
            return Array(
                "M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: \"ssdp:discover\"\r\nMX: 1\r\nST: ssdp:all\r\n\r\n"
                    .utf8)
        case 3478:
            // A STUN binding request (RFC 8489 §6).
            return [0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42] + Array("causeway-scan".utf8.prefix(12))
        case 5060:
            return Array(
                "OPTIONS sip:nw SIP/2.0\r\nVia: SIP/2.0/UDP nw;branch=z9hG4bKnw\r\nFrom: <sip:nw>;tag=nw\r\nTo: <sip:nw>\r\nCall-ID: nw\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n"
                    .utf8)
        default: return []
        }
    }
}
