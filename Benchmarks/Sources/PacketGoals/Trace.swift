import CausewayPackets
import CausewayTypes
import Glibc

/// Generated captures, equal on every machine. Most packets are IPv4, some are IPv6, VLAN-tagged or ARP packets. They
/// carry TCP, UDP and ICMP.
enum Trace {
    private struct Source {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        mutating func next(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(bound))
        }
    }

    static func generate(into folder: String, count: Int) throws {
        for (name, sizes) in [("mix", [0, 20, 60, 400, 1000, 1400]), ("small", [20, 32])] {
            var source = Source()
            let pcap = PcapWriter(linkType: .ethernet)
            let pcapng = PcapngWriter()
            var classic = pcap.header()
            var next: [UInt8] = []
            pcapng.begin(.ethernet, to: &next)
            for number in 0..<count {
                let bytes = packet(&source, payload: sizes[source.next(sizes.count)])
                let described = CapturedPacket(
                    time: CaptureTime(
                        seconds: 1_700_000_000 + Int64(number / 50_000), microseconds: UInt32(number % 50_000) * 20),
                    originalCount: bytes.count, capturedCount: bytes.count, linkType: .ethernet)
                pcap.append(described, ByteView(bytes.span), to: &classic)
                if name == "mix" { pcapng.append(described, ByteView(bytes.span), to: &next) }
            }
            try store(classic, "\(folder)/\(name).pcap")
            if name == "mix" { try store(next, "\(folder)/\(name).pcapng") }
        }
    }

    private static func packet(_ source: inout Source, payload: Int) -> [UInt8] {
        var packet = PacketBuilder()
        let isIPv6 = source.next(100) < 15
        let isTagged = source.next(100) < 10
        let type: EtherType = isIPv6 ? .ipv6 : .ipv4
        let (here, there) = (MACAddress(bits: 0x0200_0000_0001), MACAddress(bits: 0x0200_0000_0002))
        if source.next(100) == 0 {
            packet.add(EthernetHeader(destination: .broadcast, source: here, type: .arp))
            packet.add(
                ARPPacket(
                    operation: .request, senderHardware: here, senderAddress: IPv4Address(number: 0x0A00_0001),
                    targetAddress: IPv4Address(number: 0x0A00_0000 | UInt32(source.next(65_536)))))
            return packet.finish()
        }
        packet.add(EthernetHeader(destination: there, source: here, type: isTagged ? .vlan : type))
        if isTagged { packet.add(VLANTag(identifier: UInt16(source.next(4095)), type: type)) }
        let kind = source.next(10)
        let proto: IPProtocolNumber = kind < 7 ? .tcp : kind < 9 ? .udp : isIPv6 ? .icmp6 : .icmp
        let last = source.next(65_536)
        if isIPv6 {
            packet.add(
                IPv6Header(
                    source: IPv6Address(documentation: 1),
                    destination: IPv6Address(documentation: UInt16(last)), nextHeader: proto))
        } else {
            packet.add(
                IPv4Header(
                    source: IPv4Address(number: 0x0A00_0001),
                    destination: IPv4Address(number: 0x0A01_0000 | UInt32(last)),
                    proto: proto, identification: UInt16(last)))
        }
        let port: UInt16 = [80, 443, 53, 8080, 22, 5000][source.next(6)]
        switch proto {
        case .tcp:
            var header = TCPHeader(
                sourcePort: UInt16(1024 + last % 60_000), destinationPort: port, flags: [.ack, .psh])
            header.sequence = UInt32(last) * 1000
            header.acknowledgement = UInt32(last)
            packet.add(header)
        case .udp: packet.add(UDPHeader(sourcePort: UInt16(1024 + last % 60_000), destinationPort: 5000 + port % 7))
        default:
            packet.add(.echo(type: isIPv6 ? 128 : 8, identifier: 7, sequence: UInt16(last)), version6: isIPv6)
        }
        packet.add(payload: [UInt8](repeating: 0x61, count: payload))
        return packet.finish()
    }

    private static func store(_ bytes: [UInt8], _ path: String) throws {
        guard let file = fopen(path, "w") else { throw Problem("cannot write \(path)") }
        defer { fclose(file) }
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw Problem("cannot write \(path)") }
    }

    /// Returns the first packets of a file, stored one after the other in memory.
    static func packets(_ path: String, _ most: Int) throws -> Packets {
        var packets = Packets()
        try each(path) { _, bytes in
            let start = packets.bytes.count
            packets.bytes += bytes.array
            packets.places.append(start..<packets.bytes.count)
            return packets.places.count < most
        }
        return packets
    }

    struct Packets {
        var bytes: [UInt8] = []
        var places: [Range<Int>] = []
        var count: Int { places.count }

        func forEach(_ body: (borrowing ByteView) -> Void) {
            let all = ByteView(bytes.span)
            for place in places { body(all.clamped(place)) }
        }
    }

    /// Calls `body` with every packet of a file, which is read in portions of 256 KiB.
    static func each(_ path: String, _ body: (CapturedPacket, borrowing ByteView) throws -> Bool) throws {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { throw Problem("cannot read \(path)") }
        defer { close(file) }
        var reader = CaptureFileReader()
        let portion = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
        defer { portion.deallocate() }
        while true {
            while let packet = try reader.next() {
                guard try body(packet, reader.bytes) else { return }
            }
            let count = Glibc.read(file, portion.baseAddress, portion.count)
            guard count > 0 else { return }
            reader.feed(ByteView(UnsafeRawBufferPointer(rebasing: portion[..<count]).bytes))
        }
    }

    struct Problem: Error, CustomStringConvertible {
        var description: String
        init(_ description: String) { self.description = description }
    }
}
