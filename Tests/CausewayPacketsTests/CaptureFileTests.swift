import Testing

@testable import CausewayPackets

@Suite("Capture files")
struct CaptureFileTests {
    static let packets: [(CapturedPacket, [UInt8])] = (0..<5).map { index in
        let bytes = [UInt8](repeating: UInt8(index), count: 20 + index * 7)
        return (
            CapturedPacket(
                time: CaptureTime(seconds: 1_700_000_000 + Int64(index), nanoseconds: 123_456_789),
                originalCount: bytes.count + index,
                capturedCount: bytes.count, linkType: .ethernet), bytes
        )
    }

    @Test("Written packets are read back", arguments: [false, true], [false, true])
    func roundTrip(isNanoseconds: Bool, isBigEndian: Bool) {
        let writer = PcapWriter(linkType: .ethernet, isNanoseconds: isNanoseconds, isBigEndian: isBigEndian)
        var file = writer.header()
        for (packet, bytes) in Self.packets { writer.append(packet, ByteView(bytes.span), to: &file) }
        let (read, error) = PacketData.packets(file)
        #expect(error == nil && read.count == Self.packets.count)
        for (one, other) in zip(read, Self.packets) {
            #expect(one.1 == other.1 && one.0.originalCount == other.0.originalCount)
            #expect(one.0.time.seconds == other.0.time.seconds)
            #expect(one.0.time.nanoseconds == (isNanoseconds ? 123_456_789 : 123_456_000))
        }
    }

    @Test("pcapng in both byte orders is read back", arguments: [false, true])
    func pcapngRoundTrip(isBigEndian: Bool) throws {
        let writer = PcapngWriter(isBigEndian: isBigEndian)
        var file: [UInt8] = []
        writer.begin(.ethernet, name: "eth0", filter: "tcp", to: &file)
        for (packet, bytes) in Self.packets {
            writer.append(packet, ByteView(bytes.span), comment: "a comment", to: &file)
        }
        let (read, error) = PacketData.packets(file)
        #expect(error == nil && read.map(\.1) == Self.packets.map(\.1))
        #expect(read.map(\.0.time) == Self.packets.map(\.0.time))
        var blocks: [PcapngBlock] = []
        try PcapngBlock.readAll(file, into: &blocks)
        #expect(blocks.last?.comments == ["a comment"])
    }

    @Test func byteByByteIsTheSame() throws {
        let writer = PcapWriter(linkType: .raw)
        var file = writer.header()
        for (packet, bytes) in Self.packets { writer.append(packet, ByteView(bytes.span), to: &file) }
        var reader = CaptureFileReader()
        var found: [[UInt8]] = []
        for byte in file {
            reader.feed([byte])
            while try reader.next() != nil { found.append(reader.bytes.array) }
        }
        #expect(found == Self.packets.map(\.1))
    }

    @Test func cutFilesGiveWhatIsWhole() {
        let writer = PcapWriter(linkType: .raw)
        var file = writer.header()
        for (packet, bytes) in Self.packets { writer.append(packet, ByteView(bytes.span), to: &file) }
        for length in 0..<file.count {
            let (read, error) = PacketData.packets(Array(file.prefix(length)))
            #expect(read.map(\.1) == Self.packets.prefix(read.count).map(\.1))
            #expect(error != nil || length == 24 || read.count > 0)
        }
    }

    @Test func whatIsNoCaptureIsRefused() {
        #expect(PacketData.packets(Array("#!/bin/sh and more text".utf8)).error == .notACapture)
        #expect(PacketData.packets([]).error == .notACapture || PacketData.packets([]).error == nil)
        #expect("\(PacketData.packets([0x1F, 0x8B, 8, 0]).error!)".contains("gzip"))
    }

    /// Reads each test file of another project and writes it again. The bytes must be identical.
    @Test func foreignPcapngIsRewrittenWithoutLoss() throws {
        guard PacketData.required("pcapng suite") != nil else { return }
        var count = 0
        for name in try PacketData.captures("pcapng") + PacketData.captures("tcpdump") + PacketData.captures("filters")
        where name.hasSuffix(".pcapng") {
            let file = try PacketData.bytes(name)
            var blocks: [PcapngBlock] = []
            do throws(CaptureFileError) { try PcapngBlock.readAll(file, into: &blocks) } catch {
                Issue.record("\(name): \(error)")
            }
            var writer = PcapngWriter()
            var output: [UInt8] = []
            var offset = 0
            for block in blocks {
                if case .section = block.content { writer.isBigEndian = file[offset + 8] == 0x1A }
                writer.append(block, to: &output)
                offset = output.count
            }
            #expect(output == file, "\(name)")
            #expect(PacketData.packets(file).error == nil, "\(name)")
            count += 1
        }
        print("pcapng: \(count) files rewritten")
    }
}
