import CausewayWire
import Testing

@Suite("Netlink decoder, any input")
struct NetlinkPropertyTests {
    static let samples =
        NetlinkDecoderTests.controlVectors + NetlinkDecoderTests.linkVectors
        + NetlinkDecoderTests.addressVectors + NetlinkRouteVectors.all + NetlinkTranslatorPrefixTests.vectors

    @Test("A truncated datagram never yields a message that differs from the complete one's")
    func truncation() throws {
        let whole = Self.samples.flatMap(\.bytes)
        let expected = Self.samples.map(\.expected)
        for length in 0...whole.count {
            let (messages, errors) = Self.walk(Array(whole.prefix(length)))
            #expect(messages.elementsEqual(expected.prefix(messages.count)))
            // The truncation may cause at most one error. If the bytes end exactly between two messages, there must be
            // no error.
            #expect(errors.count <= 1)
            #expect(errors.isEmpty || messages.count < expected.count)
        }
        #expect(Self.walk(whole).messages.count == expected.count)
    }

    @Test("A shortened body with a matching header never traps", arguments: samples)
    func shortBodies(_ vector: NetlinkDecoderTests.Vector) {
        for length in 16..<max(17, vector.bytes.count) {
            let bytes = NetlinkBytes.host(UInt32(length)) + vector.bytes[4..<length]
            let (messages, errors) = Self.walk(bytes)
            #expect(messages.count + errors.count == 1)
        }
    }

    @Test("Random bytes never trap, and decoding always ends", arguments: 0..<200)
    func noise(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        for _ in 0..<50 {
            let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let (messages, errors) = Self.walk(bytes)
            #expect(messages.count + errors.count <= bytes.count / 16 + 1)
        }
    }

    @Test("Real messages with changed bytes never trap, and decoding always ends", arguments: 0..<200)
    func mutation(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed) &+ 1_000)
        for _ in 0..<50 {
            var bytes: [UInt8] = []
            for _ in 0..<3 { bytes += Self.samples.randomElement(using: &random)?.bytes ?? [] }
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                bytes[position] = Bool.random(using: &random) ? .random(in: 0...255, using: &random) : 0xFF
            }
            let (messages, errors) = Self.walk(bytes)
            #expect(messages.count + errors.count <= bytes.count / 16 + 1)
        }
    }

    private static func walk(_ bytes: [UInt8]) -> (messages: [NetlinkMessage], errors: [WireError]) {
        var decoder = NetlinkDecoder(bytes.span)
        var messages: [NetlinkMessage] = []
        var errors: [WireError] = []
        while true {
            do throws(WireError) {
                guard let frame = try decoder.next() else { return (messages, errors) }
                messages.append(frame.message)
            } catch {
                errors.append(error)
            }
        }
    }
}
