import CausewayWire
import Testing

@Suite("Malicious DNS messages")
struct DNSHostileTests {
    /// Returns a DNS message with one question for `name`.
    private static func message(_ name: [UInt8]) -> [UInt8] {
        [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] + name + [0, 1, 0, 1]
    }

    @Test(
        "C77: pointers may only point backwards",
        arguments: [
            [0xC0, 12], [0xC0, 13], [0xC0, 0xFF], [0xFF, 0xFF], [1, 0x61, 0xC0, 12], [0xC0], [1, 0x61, 0xC0, 14],
        ] as [[UInt8]])
    func pointers(_ name: [UInt8]) {
        #expect(throws: WireError.self) { try DNSMessage(parsing: Self.message(name).span) }
    }

    @Test("Kinds of labels that were never standardized are refused", arguments: [0x40, 0x41, 0x80, 0xBF] as [UInt8])
    func labelKinds(_ byte: UInt8) {
        #expect(throws: WireError.self) { try DNSMessage(parsing: Self.message([byte, 0, 0]).span) }
    }

    @Test("Pointers cannot extend a name beyond 255 bytes")
    func length() throws {
        // Each name has 64 bytes and ends with a pointer to the previous name.
        var bytes: [UInt8] = [0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0]
        var last: Int?
        for _ in 0..<5 {
            let start = bytes.count
            bytes += [63] + [UInt8](repeating: 0x61, count: 63)
            bytes += last.map { [0xC0 | UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] } ?? [0]
            bytes += [0, 1, 0, 1]
            last = start
        }
        #expect(throws: WireError.self) { try DNSMessage(parsing: bytes.span) }
        bytes[5] = 3
        #expect(try DNSMessage(parsing: bytes.span).questions[2].name.wire.count == 193)
    }

    @Test("C77: the length of a pointer chain is limited")
    func pointerBomb() {
        // Build a chain of 2,000 compression pointers. The first pointer refers to a name, and every other pointer
        // refers to the pointer before it.
        var bytes: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0] + [0, 0, 16, 0, 1, 0, 0, 0, 0, 0x0F, 0xA0]
        let start = bytes.count
        bytes += [0xC0, 12]
        for index in 0..<1_999 {
            let target = start + 2 * index
            bytes += [0xC0 | UInt8(target >> 8), UInt8(truncatingIfNeeded: target)]
        }
        bytes[5] = 0
        bytes[9] = 1
        let end = bytes.count - 2
        bytes += [0xC0 | UInt8(end >> 8), UInt8(truncatingIfNeeded: end), 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]
        #expect(throws: WireError.self) { try DNSMessage(parsing: bytes.span) }
    }

    @Test("C77: any change of any byte is refused or read, and a message that is read can be written")
    func mutations() throws {
        let original = DNSMessageTests.answer
        for index in original.indices {
            for value in [0, 1, 0x3F, 0x40, 0x7F, 0x80, 0xC0, 0xFF] as [UInt8] {
                var bytes = original
                bytes[index] = value
                guard let message = try? DNSMessage(parsing: bytes.span) else { continue }
                let again = try DNSMessage(parsing: message.encoded().span)
                #expect(again.questions == message.questions && again.answers == message.answers)
            }
        }
    }
}
