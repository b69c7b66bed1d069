import ArgumentParser
import CausewayPackets
import CausewayTypes

/// A 16-bit header field in the command's arguments. The user writes a decimal number, or `0x` and a hexadecimal
/// number.
struct HeaderNumber: ExpressibleByArgument, Equatable, Sendable {
    let value: UInt16

    init?(argument: String) {
        let isHexadecimal = argument.lowercased().hasPrefix("0x")
        let value = isHexadecimal ? UInt16(digits: argument.dropFirst(2), radix: 16) : UInt16(digits: argument)
        guard let value else { return nil }
        self.value = value
    }
}

/// Bytes as hexadecimal digits, optionally separated by spaces and colons.
struct HeaderBytes: ExpressibleByArgument, Equatable, Sendable {
    let bytes: [UInt8]

    init?(argument: String) {
        let digits = argument.filter { $0 != ":" && $0 != " " }
        guard !digits.isEmpty, digits.utf8.count.isMultiple(of: 2), digits.allSatisfy(\.isHexDigit) else { return nil }
        var rest = digits[...]
        var bytes: [UInt8] = []
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        self.bytes = bytes
    }
}

/// `nw packet` options for fields that are normally computed or zero.
struct PacketHeaderOptions: ParsableArguments {
    /// The maximum length of IPv4 header options in bytes (RFC 791 §3.1).
    private static let maximumOptionByteCount = 40

    @Flag(name: [.customLong("dont-fragment"), .customLong("df")], help: "Set the IPv4 flag Don't Fragment.")
    var dontFragment = false

    @Flag(name: [.customLong("more-fragments"), .customLong("mf")], help: "Set the IPv4 flag More Fragments.")
    var moreFragments = false

    @Option(
        help: ArgumentHelp("Set the position in the IPv4 datagram, a multiple of 8 bytes.", valueName: "bytes"))
    var fragmentOffset: UInt16?

    @Option(help: ArgumentHelp("Set the IPv4 options: hexadecimal digits, filled with zeros.", valueName: "hex"))
    var ipOptions: HeaderBytes?

    @Option(
        help: ArgumentHelp(
            "Write this IPv4 checksum, right or wrong. With --send the kernel corrects it.", valueName: "number"))
    var ipChecksum: HeaderNumber?

    @Option(
        help: ArgumentHelp(
            "Write this checksum of UDP, TCP or ICMP, right or wrong; 0xbeef is hexadecimal.", valueName: "number"))
    var checksum: HeaderNumber?

    @Option(help: ArgumentHelp("Set the TCP urgent pointer; add U to --flags.", valueName: "number"))
    var urgent: HeaderNumber?

    func validate() throws {
        if let fragmentOffset, !fragmentOffset.isMultiple(of: 8) {
            throw ValidationError("--fragment-offset must be a multiple of 8 bytes, at most 65528.")
        }
        if let ipOptions, ipOptions.bytes.count > Self.maximumOptionByteCount {
            throw ValidationError("--ip-options has at most \(Self.maximumOptionByteCount) bytes.")
        }
    }

    /// The first given option that exists only in IPv4; `nil` if there is none.
    var optionOfIPv4: String? {
        let given = [
            (dontFragment, "--dont-fragment"), (moreFragments, "--more-fragments"),
            (fragmentOffset != nil, "--fragment-offset"), (ipOptions != nil, "--ip-options"),
            (ipChecksum != nil, "--ip-checksum"),
        ]
        return given.first(where: \.0)?.1
    }

    func apply(to header: inout IPv4Header) {
        header.dontFragment = dontFragment
        header.moreFragments = moreFragments
        header.fragmentOffset = (fragmentOffset ?? 0) / 8
        header.options = ipOptions?.bytes ?? []
        header.checksum = ipChecksum?.value
    }
}
