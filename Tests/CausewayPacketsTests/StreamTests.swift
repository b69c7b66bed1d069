import CausewayTypes
import Testing

@testable import CausewayPackets

@Suite("Fragments and streams")
struct StreamTests {
    static func fragments(of payload: [UInt8], size: Int) -> [[UInt8]] {
        stride(from: 0, to: payload.count, by: size).map { offset in
            var header = IPv4Header(
                source: BuilderTests.here, destination: BuilderTests.there, proto: IPProtocolNumber(rawValue: 253),
                identification: 7)
            header.fragmentOffset = UInt16(offset / 8)
            header.moreFragments = offset + size < payload.count
            var packet = PacketBuilder()
            packet.add(header)
            packet.add(payload: Array(payload[offset..<min(offset + size, payload.count)]))
            return packet.finish()
        }
    }

    @Test("Fragments in any order are reassembled", arguments: 0..<20)
    func anyOrder(seed: UInt64) {
        var random = Mutations(seed: seed)
        let payload = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        let parts = Self.fragments(of: payload, size: 104).shuffled(using: &random)
        var defragmenter = Defragmenter()
        var whole: [UInt8]?
        for part in parts { whole = defragmenter.add(ByteView(part.span), at: 0) ?? whole }
        #expect(whole.map { Array($0.dropFirst(20)) } == payload)
        #expect(defragmenter.count == 0)
        if let whole { #expect(Packet(ByteView(whole.span), linkType: .ipv4).checksums().network == .good) }
    }

    @Test func overlapsAreRefused() {
        let parts = Self.fragments(of: [UInt8](repeating: 1, count: 300), size: 104)
        let evil = Self.fragments(of: [UInt8](repeating: 2, count: 300), size: 104)
        var defragmenter = Defragmenter()
        for part in [parts[0], evil[0]] + parts {
            let whole = defragmenter.add(ByteView(part.span), at: 0)
            #expect(whole == nil)
        }
    }

    @Test(
        "A datagram with a gap, and an end that makes its size fit, is dropped",
        arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    func endBeforeOtherFragments(_ order: [Int]) {
        let honest = Self.fragments(of: [UInt8](repeating: 1, count: 312), size: 104)
        // The third fragment claims that more fragments follow. The empty last fragment contradicts this: it ends the
        // datagram where the third fragment begins.
        var behind = honest[2]
        behind[6] |= 0x20
        var header = IPv4Header(
            source: BuilderTests.here, destination: BuilderTests.there, proto: IPProtocolNumber(rawValue: 253),
            identification: 7)
        header.fragmentOffset = 208 / 8
        var end = PacketBuilder()
        end.add(header)
        let parts = [honest[0], behind, end.finish()]
        var defragmenter = Defragmenter()
        for index in order {
            let part = parts[index]
            let whole = defragmenter.add(ByteView(part.span), at: 0)
            #expect(whole == nil)
        }
    }

    @Test("A second end of a datagram is dropped with it; a copy of the first has no effect")
    func twoEnds() {
        let payload = [UInt8](repeating: 1, count: 300)
        let parts = Self.fragments(of: payload, size: 104)
        let short = Self.fragments(of: Array(payload.prefix(290)), size: 104)[2]
        for (second, isWhole) in [(parts[2], true), (short, false)] {
            var defragmenter = Defragmenter()
            var whole: [UInt8]?
            for part in [parts[2], second, parts[0], parts[1]] {
                whole = defragmenter.add(ByteView(part.span), at: 0) ?? whole
            }
            #expect((whole != nil) == isWhole)
        }
    }

    @Test("Fragments of a datagram that waits make no room, also if they overlap")
    func fullOfDatagrams() {
        let payload = [UInt8](repeating: 1, count: 200)
        func fragment(_ number: Int, _ index: Int, _ payload: [UInt8]) -> [UInt8] {
            var part = Self.fragments(of: payload, size: 104)[index]
            (part[4], part[5]) = (UInt8(number >> 8), UInt8(number & 255))
            return part
        }
        var defragmenter = Defragmenter()
        for number in 0..<Defragmenter.datagramLimit {
            let part = fragment(number, 0, payload)
            #expect(defragmenter.add(ByteView(part.span), at: Int64(number / 64)) == nil)
        }
        let evil = fragment(200, 0, [UInt8](repeating: 2, count: 200))
        #expect(defragmenter.add(ByteView(evil.span), at: 4) == nil)
        #expect(defragmenter.count == Defragmenter.datagramLimit)
        let rest = fragment(0, 1, payload)
        #expect(defragmenter.add(ByteView(rest.span), at: 4)?.count == 220)
    }

    @Test func memoryIsBoundedAndTimeEnds() {
        var defragmenter = Defragmenter()
        for index in 0..<1000 {
            var part = Self.fragments(of: [UInt8](repeating: 1, count: 200), size: 104)[0]
            (part[4], part[5]) = (UInt8(index >> 8), UInt8(index & 255))
            _ = defragmenter.add(ByteView(part.span), at: 0)
        }
        #expect(defragmenter.count <= Defragmenter.datagramLimit)
        let late = Self.fragments(of: [1, 2, 3], size: 104)[0]
        _ = defragmenter.add(ByteView(late.span), at: 31)
        #expect(defragmenter.count == 0)
    }

    @Test("An atomic fragment is complete, and has no effect on a datagram with its identification")
    func atomicFragment() {
        func fragment(_ offset: UInt8, hasMore: Bool, _ content: [UInt8]) -> [UInt8] {
            var packet: [UInt8] = [0x60, 0, 0, 0, 0, UInt8(8 + content.count), 44, 64]
            packet += [UInt8](repeating: 1, count: 32)
            packet += [253, 0, 0, offset | (hasMore ? 1 : 0), 0, 0, 0, 7]
            return packet + content
        }
        let (begin, end) = ([UInt8](repeating: 2, count: 16), [UInt8](repeating: 3, count: 8))
        let other = [UInt8](repeating: 4, count: 24)
        let packets = [
            fragment(0, hasMore: true, begin), fragment(0, hasMore: false, other), fragment(16, hasMore: false, end),
        ]
        var defragmenter = Defragmenter()
        let results = packets.map { packet in defragmenter.add(ByteView(packet.span), at: 0) }
        #expect(results.map { $0.map { Array($0.dropFirst(40)) } } == [nil, other, begin + end])
        #expect(results[1]?[4...6] == [0, 24, 253])
        #expect(defragmenter.count == 0)
    }

    @Test("Times of a capture file may be as far apart as their type permits")
    func extremeTimes() {
        let parts = Self.fragments(of: [UInt8](repeating: 1, count: 200), size: 104)
        let (one, two) = (parts[0], parts[1])
        // If the time goes backwards, the defragmenter still keeps the first fragment. If the time jumps far forward,
        // the first fragment is too old.
        let rows: [(Int64, Int64, Bool)] = [(.min, .max, false), (.max, .min, true), (-31, 0, false)]
        for (first, second, isWhole) in rows {
            var defragmenter = Defragmenter()
            let begun = defragmenter.add(ByteView(one.span), at: first)
            let ended = defragmenter.add(ByteView(two.span), at: second)
            #expect(begun == nil)
            #expect((ended != nil) == isWhole)
        }
    }

    @Test("A fragment whose length ends within its headers is dropped")
    func shortFragments() {
        var defragmenter = Defragmenter()
        // An IPv4 fragment with a total length of 10 bytes. The flag for further fragments is set.
        let four: [UInt8] = [0x45, 0, 0, 10, 0, 1, 0x20, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 1, 2, 3, 4]
        #expect(defragmenter.add(ByteView(four.span), at: 0) == nil)
        // IPv6 with a payload of 4 bytes, which is too short for a fragment header.
        let six = [0x60, 0, 0, 0, 0, 4, 44, 64] + [UInt8](repeating: 1, count: 32) + [17, 0, 0, 1, 0, 0, 0, 1, 1, 2]
        #expect(defragmenter.add(ByteView(six.span), at: 0) == six)
        #expect(defragmenter.count == 0)
    }

    @Test("Segments in any order, and repeated, are reassembled", arguments: 0..<20)
    func streams(seed: UInt64) {
        var random = Mutations(seed: seed)
        let content = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let first = UInt32.max - 1000
        var segments = stride(from: 0, to: content.count, by: 100).map { ($0, Array(content[$0..<$0 + 100])) }
        segments += segments.prefix(10)
        segments.shuffle(using: &random)
        var assembler = StreamAssembler()
        var syn = TCPHeader(sourcePort: 1, destinationPort: 2, flags: .syn)
        syn.sequence = first
        let empty: [UInt8] = []
        _ = assembler.add(syn, ByteView(empty.span))
        var result: [UInt8] = []
        for (offset, bytes) in segments {
            var header = TCPHeader(sourcePort: 1, destinationPort: 2, flags: .ack)
            header.sequence = first &+ 1 &+ UInt32(offset)
            result += assembler.add(header, ByteView(bytes.span)).bytes
        }
        var fin = TCPHeader(sourcePort: 1, destinationPort: 2, flags: [.fin, .ack])
        fin.sequence = first &+ 1 &+ UInt32(content.count)
        let end = assembler.add(fin, ByteView(empty.span))
        #expect(end.isFinished)
        #expect(result == content)
    }

    @Test("Of overlapping segments, the first copy of each byte is kept, also behind a gap", arguments: 0..<200)
    func firstCopies(seed: UInt64) {
        var random = Mutations(seed: seed)
        var (assembler, header) = (StreamAssembler(), TCPHeader(sourcePort: 1, destinationPort: 2, flags: .syn))
        let first = UInt32.max - 20
        header.sequence = first &- 1
        let empty: [UInt8] = []
        _ = assembler.add(header, ByteView(empty.span))
        header.flags = .ack
        var expected = [UInt8?](repeating: nil, count: 64)
        var result: [UInt8] = []
        for number in UInt8(1)...30 {
            let offset = Int.random(in: -4..<60, using: &random)
            let bytes = [UInt8](repeating: number, count: Int.random(in: 0...min(12, 64 - offset), using: &random))
            header.sequence = first &+ UInt32(truncatingIfNeeded: offset)
            for (index, byte) in bytes.enumerated() where offset + index >= result.count {
                expected[offset + index] = expected[offset + index] ?? byte
            }
            result += assembler.add(header, ByteView(bytes.span)).bytes
            #expect(result == expected.prefix { $0 != nil }.compactMap { $0 }, "\(seed)")
            #expect(assembler.pendingCount == expected[result.count...].count { $0 != nil }, "\(seed)")
        }
    }

    @Test("A hundred thousand single bytes behind gaps keep a bounded number of pieces")
    func manyPieces() {
        var assembler = StreamAssembler()
        var header = TCPHeader(sourcePort: 1, destinationPort: 2, flags: .ack)
        let byte: [UInt8] = [1]
        var count = 0
        for number in 0..<100_000 {
            header.sequence = UInt32(2 * number)
            count += assembler.add(header, ByteView(byte.span)).bytes.count
            #expect(assembler.pendingCount <= StreamAssembler.pieceLimit)
        }
        #expect(count == 100_000 - StreamAssembler.pieceLimit)
    }

    @Test func gapsAreGivenUpWhenTheRoomIsFull() {
        var assembler = StreamAssembler()
        let block = [UInt8](repeating: 9, count: 60_000)
        var header = TCPHeader(sourcePort: 1, destinationPort: 2, flags: .ack)
        header.sequence = 100
        _ = assembler.add(header, ByteView(block.span).prefix(1))
        var skipped = 0
        for index in 0..<40 {
            header.sequence = 201 + UInt32(index) * 60_000
            skipped += assembler.add(header, ByteView(block.span)).skipped
            #expect(assembler.pendingCount <= StreamAssembler.roomLimit + block.count)
        }
        #expect(skipped == 100)
    }
}

/// A random number generator with a seed.
struct Mutations: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
