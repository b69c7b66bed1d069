import Testing

@testable import CausewayPackets

/// Values of DHCP options, as tcpdump 4.99 prints them.
@Suite("DHCP options")
struct DHCPOptionTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var option: UInt8
        var value: [UInt8]
        /// The text that the printer is expected to print after the option's length.
        var expected: String
        var testDescription: String { "\(option): \(expected)" }

        init(_ option: UInt8, _ hex: String, _ expected: String) {
            (self.option, value, self.expected) = (option, PrinterMoreProtocolsTests.bytes(hex), expected)
        }
    }

    /// Returns the lines that the printer creates for a DHCP request. The request contains the given option and another
    /// option after it.
    static func lines(_ row: Row) -> String {
        let fixed: [UInt8] = [1, 1, 6, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 228)
        let cookie: [UInt8] = [0x63, 0x82, 0x53, 0x63]
        let options = [row.option, UInt8(row.value.count)] + row.value + [12, 3] + Array("end".utf8) + [255]
        let packet = PrinterProtocolTests.packet(.init(.udp(67), fixed + cookie + options, ""))
        return PrinterLineTests.line(packet, verbosity: 1)
    }

    static let rows: [Row] = [
        // Options whose values are bytes of any length.
        Row(43, "06 01 08 0a", ": 6.1.8.10"), Row(43, "", ""), Row(94, "01 02 01", ": 1.2.1"),
        Row(94, "01 03", ": 1.3"), Row(97, "00 01 02 03 ff", ": 0.1.2.3.255"), Row(97, "41668bb0", ": 65.102.139.176"),
        Row(78, "01 0a", ": 1.10"), Row(90, "0102", ": 1.2"), Row(23, "40", ": 64"), Row(53, "01 02", ": 1.2"),
        // An unknown option is printed as numbers. The option's length determines the size of each number.
        Row(224, "41", ": 65"), Row(224, "4166", ": 16742"), Row(224, "41668b", ": 65.102.139"),
        Row(224, "41668bb0", ": 1097239472"), Row(224, "41668bb0d5fa", ": 16742,35760,54778"),
        Row(125, "41668bb0d5fa1f44", ": 1097239472,3589939012"), Row(63, "0102030405", ": 1.2.3.4.5"),
        // Options that contain lists of values.
        Row(3, "0a000001 0a000002", ": 10.0.0.1,10.0.0.2"),
        Row(3, "0a000001 0a", ": 10.0.0.1\n\t  trailing data length 1"),
        Row(3, "0a", ": \n\t  trailing data length 1"), Row(52, "01 02", ": file\n\t  trailing data length 1"),
        Row(93, "0007 0009", ": 7,9"), Row(2, "fffffff0", ": -16"), Row(108, "00000708", ": 1800"),
        Row(33, "0a000001 0a000002", ": (10.0.0.1:10.0.0.2)"), Row(19, "00 01 02", ": N,Y,2?"), Row(116, "01", ": Y"),
        // Options with text. One text ends with a zero byte.
        Row(12, "41 42 00", ": \"AB^@\""), Row(12, "", "\"\""), Row(98, "68 69", ": \"hi\""),
        // Options whose value is a code.
        Row(53, "01", ": Discover"), Row(53, "0e", ": Unknown (14)"), Row(46, "08", ": h-node"), Row(46, "03", ": #3"),
        Row(52, "03", ": file+sname"), Row(52, "04", ": #4"), Row(52, "", "[ERROR: length < 1 bytes]"),
        // Options with a structured value.
        Row(61, "01 0203", ": ether 02:03"), Row(61, "00 4142", ": \"AB\""), Row(61, "", "[ERROR: length < 1 bytes]"),
        Row(77, "03 414243 02 4445", ": \n\t      instance#1: \"ABC\", length 3\n\t      instance#2: \"DE\", length 2"),
        Row(77, "01 41 02", ": \n\t      instance#1: \"A\", length 1\n\t      instance#2: [ERROR: invalid option]"),
        Row(77, "00 01 41", ": \n\t      instance#1: [ERROR: suboption length must be non-zero]"),
        Row(77, "01", ": [ERROR: length < 2 bytes]"),
        Row(81, "00 01 02 61", ": 1/2 \"a\""), Row(81, "05 00 00", ": [SE] \"\""),
        Row(81, "00", ": [ERROR: length < 3 bytes]"),
        Row(81, "11 00 00 41", ": [ERROR: MBZ nibble 0x1 != 0] [S] \"A\""),
        Row(
            82, "01 02 4142 05 04 01020304",
            ": \n\t      Circuit-ID SubOption 1, length 2: AB"
                + "\n\t      Unknown SubOption 5, length 4: \n\t\t0x0000:  0102 0304"),
        Row(82, "01 03 4142", ": \n\t      Circuit-ID SubOption 1, length 3: length goes past end of option"),
        Row(121, "18 c0a801 0a000001 00 0a0000fe", ": (192.168.1.0/24:10.0.0.1),(default:10.0.0.254)"),
        Row(121, "00 0a000001 00", ": (default:10.0.0.1),[ERROR: Remaining length (0) < 4 bytes]"),
        Row(121, "21 0102030405060708", ": [ERROR: Mask width (33) > 32]"),
        Row(249, "08", ": [ERROR: length < 5 bytes]"),
        Row(
            55, "01 2b 5e 61 e0",
            ": \n\t      Subnet-Mask (1), Vendor-Option (43), NDI (94), GUID (97)\n\t      Unknown (224)"),
    ]

    @Test("The value of an option", arguments: rows)
    func value(_ row: Row) {
        let lines = Self.lines(row)
        let expected =
            " (\(row.option)), length \(row.value.count)\(row.expected)\n\t    Hostname (12), length 3: \"end\"\n"
        #expect(lines.hasSuffix(expected), "\(lines)")
    }
}
