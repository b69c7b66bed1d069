import CausewayTypes
import Testing

@testable import CausewayPackets

@Suite("Filters")
struct FilterTests {
    static func tcp(_ source: String, _ destination: String, port: UInt16, payload: Int = 0) -> [UInt8] {
        var packet = PacketBuilder()
        packet.add(EthernetHeader(destination: .broadcast, source: MACAddress("02:00:00:00:00:01")!, type: .ipv4))
        packet.add(IPv4Header(source: IPv4Address(source)!, destination: IPv4Address(destination)!, proto: .tcp))
        packet.add(TCPHeader(sourcePort: 4000, destinationPort: port, flags: .syn))
        packet.add(payload: [UInt8](repeating: 0, count: payload))
        return packet.finish()
    }

    @Test("Nested negations have linear cost", arguments: [64, 65])
    func negations(count: Int) throws {
        let filter = try PacketFilter(String(repeating: "not ", count: count) + "tcp", linkType: .ethernet)
        let bytes = Self.tcp("10.0.0.1", "192.168.1.1", port: 80)
        #expect(filter.matches(ByteView(bytes.span)) == count.isMultiple(of: 2))
    }

    @Test(
        "Expressions decide",
        arguments: [
            ("tcp", true), ("udp", false), ("host 10.0.0.1", true), ("src host 10.0.0.1", true),
            ("dst host 10.0.0.1", false),
            ("net 10.0.0.0/8", true), ("net 10", true), ("dst net 192.168.0.0 mask 255.255.0.0", true),
            ("port 80", true), ("src port 80", false),
            ("portrange 79-81", true), ("tcp port http", true), ("port 22 or 80", true), ("not port 22 and 80", true),
            ("port (22 or 443)", false),
            ("tcp[tcpflags] & tcp-syn != 0", true), ("tcp[13] = 2", true), ("tcp[0:2] + 1 = 4001", true),
            ("ip[(ip[0] & 0) + 9] = 6", true),
            ("ether src 02:00:00:00:00:01", true), ("broadcast", true), ("ip proto \\tcp", true), ("less 60", true),
            ("greater 60", false),
            ("len = 54", true), ("ip6", false), ("arp or rarp or icmp", false), ("ether proto 0x0800", true),
            ("vlan", false), ("", true),
            ("ip protochain 6", true), ("(ip)", true), ("((tcp) and (host 10.0.0.1))", true),
            ("tcp and not host 1.2.3.4 and 10.0.0.1", true),
        ])
    func decides(expression: String, expected: Bool) throws {
        let filter = try PacketFilter(expression, linkType: .ethernet)
        let bytes = Self.tcp("10.0.0.1", "192.168.1.1", port: 80)
        #expect(filter.matches(ByteView(bytes.span)) == expected)
    }

    @Test(
        "Errors have a position",
        arguments: [
            ("host", 4), ("tcp port 80 and", 15), ("port 70000", 5), ("tcp[0:3] = 1", 6), ("host 1.2.3.400", 5),
            ("foo bar", 0), ("host 10.0.0.1)", 13),
            ("ip host 2001:db8::1", 8), ("vlan 5000", 0), ("net 10.0.0.1/8", 4),
        ])
    func places(expression: String, position: Int) {
        let error = #expect(throws: FilterError.self) { try PacketFilter(expression, linkType: .ethernet) }
        #expect(error?.position == position, "\(expression): \(error?.message ?? "")")
    }

    @Test func manyHostsAreSearchedNotWalked() throws {
        let hosts = (0..<500).map { "host 10.\($0 / 100).\($0 % 100).7" }
        let filter = try PacketFilter(hosts.joined(separator: " or "), linkType: .ethernet)
        for (address, expected) in [
            ("10.3.50.7", true), ("10.3.50.8", false), ("10.4.99.7", true), ("10.5.0.7", false),
        ] {
            let bytes = Self.tcp(address, "192.168.1.1", port: 1)
            #expect(filter.matches(ByteView(bytes.span)) == expected)
        }
        #expect(filter.instructionCount < 500 * 14)
    }

    /// Jumps over more than 255 instructions use intermediate jumps, and the result is the same.
    @Test func kernelProgramAgrees() throws {
        let hosts = (0..<60).map { "host 10.0.\($0 * 3).7" }.joined(separator: " or ")
        let filter = try PacketFilter("tcp port 80 and (\(hosts))", linkType: .ethernet)
        let program = try #require(filter.kernelProgram)
        let wide = FilterProgram(
            instructions: program.enumerated().map { index, one in
                let isJump = one.code == FilterProgram.Code.jump
                return FilterInstruction(
                    code: one.code, k: isJump ? 0 : one.k, jt: Int32(index + 1 + (isJump ? Int(one.k) : Int(one.jt))),
                    jf: Int32(index + 1 + Int(one.jf)))
            })
        for last in 0..<200 {
            let bytes = Self.tcp("10.0.\(last).7", "1.1.1.1", port: last % 2 == 0 ? 80 : 81)
            #expect(
                (wide.run(ByteView(bytes.span), originalCount: bytes.count) != 0)
                    == filter.matches(ByteView(bytes.span))
            )
        }
    }

    @Test func explanationShowsTreeAndProgram() throws {
        let text = try PacketFilter("tcp port 80", linkType: .ethernet).explanation
        #expect(text.contains("any of") && text.contains("jeq") && text.contains("ret"))
    }

    @Test(
        "Deep nesting is refused, also of values",
        arguments: [("", "tcp"), ("tcp port ", "80"), ("host ", "192.0.2.1"), ("port 22 or ", "80")])
    func deepNestingIsRefused(_ beginning: String, _ innermost: String) throws {
        func nested(_ depth: Int) -> String {
            beginning + String(repeating: "(", count: depth) + innermost + String(repeating: ")", count: depth)
        }
        #expect(throws: FilterError.self) { try PacketFilter(nested(500), linkType: .ethernet) }
        #expect(throws: FilterError.self) { try PacketFilter(nested(200_000), linkType: .ethernet) }
        _ = try PacketFilter(nested(10), linkType: .ethernet)
    }

    private static func chain(_ term: String, _ joints: [String], _ count: Int) -> String {
        (1..<count).reduce(into: term) { text, number in text += " \(joints[number % joints.count]) \(term)" }
    }

    struct LongRow: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let expression: String
        let isAccepted: Bool
    }

    private static func nested(_ beginning: String, isClosed: Bool) -> String {
        beginning + String(repeating: "(", count: 30_000) + "5" + String(repeating: ")", count: isClosed ? 30_000 : 0)
    }

    static let long = [
        LongRow(testDescription: "and", expression: chain("ip", ["and"], 30_000), isAccepted: true),
        LongRow(testDescription: "or", expression: chain("ip", ["or"], 30_000), isAccepted: true),
        LongRow(testDescription: "short alternation", expression: chain("ip", ["and", "or"], 200), isAccepted: true),
        LongRow(testDescription: "alternation", expression: chain("ip", ["and", "or"], 30_000), isAccepted: false),
        LongRow(
            testDescription: "alternations side by side", expression: chain("(ip and tcp or ip)", ["or"], 300),
            isAccepted: true),
        LongRow(
            testDescription: "alternations in alternations",
            expression: "(\(chain("ip", ["and", "or"], 200))) and \(chain("ip", ["or", "and"], 200))",
            isAccepted: false),
        LongRow(
            testDescription: "comparisons with sums", expression: chain("len + 1 > 5", ["and"], 300),
            isAccepted: true),
        LongRow(testDescription: "values", expression: "port (\(chain("80", ["or"], 1_000)))", isAccepted: true),
        LongRow(
            testDescription: "alternating values", expression: "port (\(chain("80", ["or", "and"], 30_000)))",
            isAccepted: false),
        LongRow(testDescription: "short sum", expression: "((\(chain("len", ["+"], 200))) > 5)", isAccepted: true),
        LongRow(testDescription: "sum", expression: "\(chain("len", ["+"], 30_000)) > 5", isAccepted: false),
        LongRow(testDescription: "number", expression: nested("greater ", isClosed: true), isAccepted: true),
        LongRow(testDescription: "open number", expression: nested("greater ", isClosed: false), isAccepted: false),
    ]

    @Test("Long chains are compiled, or refused if they would make the tree too deep", arguments: long)
    func longChains(_ row: LongRow) throws {
        guard row.isAccepted else {
            #expect(throws: FilterError.self) { try PacketFilter(row.expression, linkType: .ethernet) }
            return
        }
        let filter = try PacketFilter(row.expression, linkType: .ethernet)
        let bytes = Self.tcp("10.0.0.1", "10.0.0.2", port: 80)
        let matches = filter.matches(ByteView(bytes.span))
        #expect(matches)
    }
}
