import Foundation
import Testing

@testable import CausewayPackets

/// Damaged packets and files: nothing traps, nothing hangs.
@Suite("Mutations")
struct MutationTests {
    static let count = Int(ProcessInfo.processInfo.environment["CAUSEWAY_MUTATIONS"] ?? "") ?? 1

    static func mutated(_ bytes: [UInt8], _ random: inout Mutations) -> [UInt8] {
        guard !bytes.isEmpty else { return bytes }
        var result = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 0..<result.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: result[place] = UInt8.random(in: 0...255, using: &random)
            case 1: result[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            default: result[place] = [0, 0xFF, 0x7F, 0x80].randomElement(using: &random) ?? 0
            }
        }
        if Int.random(in: 0..<8, using: &random) == 0 {
            result = Array(result.prefix(Int.random(in: 0...result.count, using: &random)))
        }
        return result
    }

    static func exercise(
        _ packet: CapturedPacket, _ bytes: [UInt8], _ printers: inout [PacketPrinter], _ json: inout PacketJSON
    ) {
        for index in printers.indices { printers[index].print(packet, ByteView(bytes.span)) }
        _ = json.line(packet, ByteView(bytes.span))
        let view = Packet(ByteView(bytes.span), linkType: packet.linkType, originalCount: packet.originalCount)
        _ = view.checksums()
        precondition(view.layers.payload.upperBound <= bytes.count)
    }

    static func printers() -> [PacketPrinter] {
        (0...3).map { verbosity in
            var options = PacketPrinter.Options()
            options.verbosity = verbosity
            options.showsLink = verbosity % 2 == 1
            options.dump = verbosity == 3 ? .hexAndTextWithLink : .none
            return PacketPrinter(options, initialCipher: .transparent)
        }
    }

    @Test func foreignCapturesWithDamage() throws {
        guard PacketData.required("damaged captures") != nil else { return }
        var (printers, json) = (Self.printers(), PacketJSON(initialCipher: .transparent))
        var packets = 0
        var filters: [LinkType: PacketFilter] = [:]
        for (number, name)
            in (try PacketData.captures("tcpdump") + PacketData.captures("filters") + PacketData.captures("pcapng"))
            .enumerated()
        {
            let file = try PacketData.bytes(name)
            var random = Mutations(seed: UInt64(number))
            for _ in 0..<max(Self.count, 1) {
                let damaged = Self.mutated(file, &random)
                for (packet, bytes) in PacketData.packets(damaged).packets.prefix(40) {
                    Self.exercise(packet, bytes, &printers, &json)
                    let worse = Self.mutated(bytes, &random)
                    var described = packet
                    described.capturedCount = worse.count
                    Self.exercise(described, worse, &printers, &json)
                    if filters[packet.linkType] == nil {
                        filters[packet.linkType] = try? PacketFilter(
                            "tcp port 80 or udp[2:2] > 5 or vlan or ip6 protochain 6", linkType: packet.linkType)
                    }
                    _ = filters[packet.linkType]?.matches(ByteView(worse.span))
                    packets += 1
                }
                var blocks: [PcapngBlock] = []
                try? PcapngBlock.readAll(damaged, into: &blocks)
            }
        }
        print("mutations: \(packets) packets, \(Self.count) rounds")
    }

    @Test("Random bytes of every link type", arguments: 0..<50)
    func noise(seed: UInt64) {
        var random = Mutations(seed: seed)
        var (printers, json) = (Self.printers(), PacketJSON(initialCipher: .transparent))
        for type in [
            LinkType.ethernet, .raw, .ipv4, .ipv6, .null, .loop, .linuxCooked, .linuxCooked2, .ppp, .wireless,
            .wirelessRadio,
        ] {
            var bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            // In every second packet, set the type fields to known values. More decoders then read the random bytes
            // after them.
            if bytes.count > 40, seed % 2 == 0 {
                if type == .ethernet {
                    (bytes[12], bytes[13]) =
                        ([(8, 0), (0x86, 0xDD), (0x81, 0), (0x88, 0x47), (0x88, 0x64)] as [(UInt8, UInt8)])[
                            Int(seed / 2) % 5]
                }
                if type == .ipv4 { (bytes[0], bytes[9]) = (0x45, [1, 2, 6, 17, 47, 132][Int(seed / 2) % 6]) }
                if type == .ipv6 {
                    (bytes[0], bytes[6]) = (0x60, [0, 6, 17, 43, 44, 58, 60, 135][Int(seed / 2) % 8])
                }
            }
            let packet = CapturedPacket(
                time: CaptureTime(seconds: 0, microseconds: 0), originalCount: bytes.count + Int(seed % 3),
                capturedCount: bytes.count, linkType: type)
            Self.exercise(packet, bytes, &printers, &json)
            var line = json.line(packet, ByteView(bytes.span))
            #expect((try? JSONSerialization.jsonObject(with: Data(line))) is [String: Any])
            #expect(line.popLast() == UInt8(ascii: "\n") && Self.isPrintable(line))
            for index in printers.indices {
                var text: [UInt8] = []
                printers[index].append(packet, ByteView(bytes.span), to: &text)
                #expect(text.last == UInt8(ascii: "\n") && Self.isPrintable(text))
            }
        }
    }

    /// Returns whether the text has no control characters. Line breaks and tabs are allowed.
    static func isPrintable(_ text: [UInt8]) -> Bool {
        text.allSatisfy { (0x20..<0x7F).contains($0) || $0 >= 0x80 || $0 == 0x0A || $0 == 0x09 }
    }

    @Test("Random filter texts", arguments: 0..<200)
    func filterTexts(seed: UInt64) {
        var random = Mutations(seed: seed)
        let words =
            FilterKeywords.all.sorted() + [
                "(", ")", "!", "&&", "||", "[", "]", ":", "<", ">", "=", "1", "0x10", "10.0.0.1", "10.0.0.0/8",
                "2001:db8::/32", "aa:bb:cc:dd:ee:ff", "+", "-",
                "*", "/", "%", "<<", "\\tcp", "4294967295",
            ]
        for _ in 0..<20 {
            let text = (0..<Int.random(in: 1...12, using: &random)).map { _ in words.randomElement(using: &random) ?? ""
            }.joined(separator: " ")
            for type in [LinkType.ethernet, .raw, .linuxCooked2] {
                do throws(FilterError) {
                    let filter = try PacketFilter(text, linkType: type)
                    let bytes = [UInt8](repeating: 0x45, count: 80)
                    _ = filter.matches(ByteView(bytes.span))
                    _ = filter.explanation
                    _ = filter.kernelProgram
                } catch {
                    #expect(error.position <= text.count, "\(text)")
                }
            }
        }
    }
}
