import CausewayTypes
import CausewayWire
import Testing

@testable import CausewayPackets

@Suite("Input and output of a scan")
struct ScanTextTests {
    @Test(
        "Lists of ports",
        arguments: [
            ("22", [22]), ("22,80,22", [22, 80]), ("5-8", [5, 6, 7, 8]), ("https,ssh", [443, 22]),
            ("-3", [1, 2, 3]), ("65534-", [65_534, 65_535]),
        ] as [(String, [UInt16])])
    func ports(_ text: String, _ ports: [UInt16]) throws {
        #expect(try PortList(text).ports == ports)
    }

    @Test("All ports, and the first of the most common ones")
    func manyPorts() throws {
        #expect(try PortList("-").ports.count == 65_535)
        for count in [1, 100, 1000, 65_535] {
            let top = PortList(top: count, technique: .syn).ports
            #expect(top.count == count && Set(top).count == count)
        }
        #expect(PortList(top: 1, technique: .udp).ports == [53])
    }

    @Test(
        "An invalid list of ports is refused with a position",
        arguments: [("", 0), ("22,", 3), ("0", 0), ("70000", 0), ("22,9-5", 3), ("a-b", 0), ("1-99999", 0), ("x", 0)])
    func badPorts(_ text: String, _ offset: Int) {
        #expect { try PortList(text) } throws: { ($0 as? PortList.Failure)?.offset == offset }
    }

    @Test(
        "Lists of hosts",
        arguments: [
            ("192.0.2.1", ["192.0.2.1"]), ("192.0.2.7/30", ["192.0.2.4", "192.0.2.5", "192.0.2.6", "192.0.2.7"]),
            ("192.0.2.9-11", ["192.0.2.9", "192.0.2.10", "192.0.2.11"]),
            ("192.0.2.255-192.0.3.1", ["192.0.2.255", "192.0.3.0", "192.0.3.1"]), ("2001:db8::1", ["2001:db8::1"]),
            ("2001:db8::5/126", ["2001:db8::4", "2001:db8::5", "2001:db8::6", "2001:db8::7"]), ("example.com", []),
            ("a-b.example", []),
        ])
    func targets(_ text: String, _ addresses: [String]) throws {
        #expect(try TargetRange(text).addresses.map { "\($0)" } == addresses)
    }

    @Test(
        "Text without hosts, or with too many, is refused",
        arguments: [
            "", "10.0.0.0/8", "2001:db8::/64", "::/0", "192.0.2.1/33", "192.0.2.9-3", "192.0.2.1-x", "x/24",
            "192.0.2.1/+30", "192.0.2.1/-0", "192.0.2.1-+9", "2001:db8::/+126",
        ])
    func badTargets(_ text: String) {
        #expect(throws: TargetRange.Failure.self) { try TargetRange(text) }
    }

    @Test("Ports with equal results are counted, others are listed in order")
    func table() throws {
        let address = InternetAddress.ipv4(try #require(IPv4Address("192.0.2.1")))
        var rows = (100..<200).map { ScanReport.Row(port: $0, finding: ScanFinding(.reset, technique: .syn)) }
        rows.append(.init(port: 443, finding: ScanFinding(.synAck, technique: .syn)))
        rows.append(.init(port: 22, finding: ScanFinding(.adminProhibited, technique: .syn)))
        let report = ScanReport(name: "web", address: address, technique: .syn, rows: rows)
        #expect(
            report.text == """
                Scan report for web (192.0.2.1)
                Not shown: 100 closed tcp ports (reset)
                PORT    STATE    SERVICE REASON
                22/tcp  filtered ssh     admin-prohibited
                443/tcp open     https   syn-ack

                """)
        #expect(
            report.json()
                == #"{"host":"web","address":"192.0.2.1","ports":[{"port":22,"protocol":"tcp","state":"filtered","reason":"admin-prohibited","service":"ssh"},{"port":443,"protocol":"tcp","state":"open","reason":"syn-ack","service":"https"}],"others":[{"count":100,"state":"closed","reason":"reset"}]}"#
        )
    }

    /// Returns the bytes that `PacketBuilder` creates for a TCP header, with computed lengths and checksums.
    private func built(_ header: TCPHeader, _ address: InternetAddress) -> [UInt8] {
        var header = header
        (header.checksum, header.dataOffset) = (nil, nil)
        var packet = PacketBuilder()
        switch address {
        case .ipv4(let address): packet.add(IPv4Header(source: address, destination: address, proto: .tcp))
        case .ipv6(let address): packet.add(IPv6Header(source: address, destination: address, nextHeader: .tcp))
        }
        packet.add(header)
        return packet.finish().suffix(header.byteCount)
    }

    @Test("A SYN is correct, and only its own answer is accepted", arguments: ["192.0.2.1", "2001:db8::1"])
    func syn(_ text: String) throws {
        let address = try #require(try TargetRange(text).addresses.first)
        let probes = ScanProbes(secret: 7, firstPort: 61_000)
        var segment: [UInt8] = []
        probes.appendSyn(from: address, to: address, host: 3, port: 80, attempt: 1, to: &segment)
        #expect(segment.count == ScanProbes.synByteCount)
        let sent = try TCPHeader(ByteView(segment.span), at: 0)
        #expect(sent.destinationPort == 80 && sent.sourcePort == 61_001 && sent.flags == .syn)
        #expect(sent.options == [2, 4, 5, 0xB4])
        #expect(segment == built(sent, address))
        var answer = TCPHeader(sourcePort: 80, destinationPort: 61_001, flags: [.syn, .ack])
        answer.acknowledgement = sent.sequence &+ 1
        func reading(_ header: TCPHeader, host: Int = 3) -> ScanFinding.Reason? {
            var packet = PacketBuilder()
            packet.add(header)
            let bytes = packet.finish()
            return probes.synAnswer(ByteView(bytes.span), at: 0, host: host)?.reason
        }
        #expect(reading(answer) == .synAck)
        #expect(reading(answer, host: 4) == nil)
        answer.flags = [.rst, .ack]
        #expect(reading(answer) == .reset)
        answer.acknowledgement &+= 1
        #expect(reading(answer) == nil)
        let short: [UInt8] = [0, 80]
        #expect(probes.synAnswer(ByteView(short.span), at: 0, host: 3) == nil)
        #expect(probes.synAnswer(ByteView(short.span), at: .max, host: 3) == nil)
    }

    @Test("Every UDP port has a probe datagram that fits every link")
    func datagrams() {
        for port in UInt16(0)...UInt16.max { #expect(ScanProbes.datagram(for: port).count < 512) }
    }
}
