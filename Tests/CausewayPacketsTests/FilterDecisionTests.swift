import CausewayTypes
import Testing

@testable import CausewayPackets

/// Tests filter decisions, which are a second form of the filter program. Both forms must give the same result for
/// every packet.
@Suite("Filters as decisions")
struct FilterDecisionTests {
    /// Typical filters. They only compare packet fields with constants.
    static let usual = [
        "tcp port 80", "host 10.1.0.7", "udp port 53 or icmp", "net 10.1.0.0/16 and tcp", "tcp[13] & 2 != 0",
        "ip6 and tcp port 443", "not port 22", "tcp", "ip6", "arp", "port 53", "src host 10.0.0.1", "ether[0] & 1 = 0",
        "ether[1] = 2 or ether[6] = 2", "tcp[tcpflags] & (tcp-syn|tcp-ack) == tcp-syn", "ip[6:2] & 0x1fff = 0",
        "ether src 02:00:00:00:00:01", "broadcast", "ip proto 17 or ip proto 1", "not (tcp or udp or icmp)",
        "src port 80 and dst port 4000", "ip6 host 2001:db8::1", "icmp[0] = 8",
    ]
    /// Filters for which the decisions alone are not enough. Parts of each filter need the BPF program.
    static let others = [
        "less 60", "tcp[0:2] + 1 = 4001", "portrange 79-81", "ip protochain 6", "vlan and tcp port 80",
    ]

    static func packets() -> [[UInt8]] {
        let (here, there) = (MACAddress("02:00:00:00:00:01")!, MACAddress("02:02:00:00:00:02")!)
        var all: [[UInt8]] = []
        for (type, port) in [EtherType.ipv4, .ipv6].flatMap({ type in [UInt16(22), 53, 80, 443].map { (type, $0) } }) {
            for proto in [IPProtocolNumber.tcp, .udp, .icmp] {
                var packet = PacketBuilder()
                packet.add(EthernetHeader(destination: there, source: here, type: type))
                if type == .ipv4 {
                    packet.add(
                        IPv4Header(
                            source: IPv4Address("10.0.0.1")!, destination: IPv4Address("10.1.0.7")!, proto: proto))
                } else {
                    packet.add(
                        IPv6Header(
                            source: IPv6Address("2001:db8::1")!, destination: IPv6Address("2001:db8::2")!,
                            nextHeader: proto))
                }
                switch proto {
                case .tcp: packet.add(TCPHeader(sourcePort: 4000, destinationPort: port, flags: .syn))
                case .udp: packet.add(UDPHeader(sourcePort: port, destinationPort: 4000))
                default: packet.add(.echo(type: 8, identifier: port, sequence: 1), version6: type == .ipv6)
                }
                all.append(packet.finish())
            }
        }
        var packet = PacketBuilder()
        packet.add(EthernetHeader(destination: .broadcast, source: here, type: .arp))
        packet.add(
            ARPPacket(
                operation: .request, senderHardware: here, senderAddress: IPv4Address("10.1.0.7")!,
                targetAddress: IPv4Address("10.1.0.8")!))
        return all + [packet.finish()]
    }

    private static func disagreements(_ program: FilterProgram, _ bytes: [UInt8]) -> Bool {
        let packet = ByteView(bytes.span)
        return program.run(packet, originalCount: bytes.count)
            != program.interpret(packet, originalCount: bytes.count)
    }

    @Test("Typical filters become decisions", arguments: usual)
    func areDecisions(expression: String) throws {
        let decisions = try PacketFilter(expression, linkType: .ethernet).program.decisions
        #expect(decisions.start != FilterDecision.open)
        #expect(decisions.steps.count < 10)
    }

    @Test("The program and the decisions agree on a packet truncated at any length", arguments: usual + others)
    func cutOff(expression: String) throws {
        let program = try PacketFilter(expression, linkType: .ethernet).program
        for packet in Self.packets() {
            for count in 0...packet.count {
                #expect(!Self.disagreements(program, Array(packet.prefix(count))), "\(count) of \(packet)")
            }
        }
    }

    @Test("The program and the decisions agree on a packet with any byte changed", arguments: usual + others)
    func changed(expression: String) throws {
        let program = try PacketFilter(expression, linkType: .ethernet).program
        let interesting: [UInt8] = [0, 1, 6, 8, 17, 22, 53, 0x4F, 0x60, 80, 0x81, 0x86, 132, 0xDD, 255]
        var wrong: [String] = []
        for packet in Self.packets() {
            for place in 0..<min(packet.count, 60) {
                var changed = packet
                for value in interesting {
                    changed[place] = value
                    if Self.disagreements(program, changed) { wrong.append("\(place): \(value) in \(packet)") }
                }
            }
        }
        #expect(wrong.isEmpty)
    }

    @Test("A long chain of alternatives is left to the program")
    func longChain() throws {
        let expression = (0..<3000).map { "ether[\($0 % 200)] = \($0 % 256)" }.joined(separator: " or ")
        let program = try PacketFilter(expression, linkType: .ethernet).program
        #expect(program.decisions.start == FilterDecision.open)
    }

    @Test("A missing header rejects the packet, even if nothing after it is compared")
    func headerAlone() {
        let program = FilterProgram(instructions: [
            FilterInstruction(code: FilterProgram.Code.xHeaderLength, k: 14),
            FilterInstruction(code: FilterProgram.Code.answer, k: 1),
        ])
        for count in [14, 15] { #expect(!Self.disagreements(program, Array(repeating: 0x45, count: count))) }
    }

    @Test("A byte is found in a set of eight, and others are not", arguments: [[0, 1, 6, 17, 58, 132, 255, 128], [7]])
    func byteSets(values: [UInt8]) {
        let bytes = (0..<8).reduce(UInt64(0)) { $0 << 8 | UInt64(values[min($1, values.count - 1)]) }
        for byte in UInt8.min...UInt8.max {
            #expect(FilterDecision.holds(bytes, byte) == values.contains(byte))
        }
    }
}
