import Testing

@testable import CausewayWire

@Suite("Messages of NTLM (MS-NLMP §2.2.1)")
struct NTLMMessageTests {
    /// The hexadecimal bytes of the example challenge in MS-NLMP §4.2.4.3.
    static let example = [
        "4e544c4d53535000", "02000000", "0c000c0038000000", "33828ae2", "0123456789abcdef", "0000000000000000",
        "2400240044000000", "060070170000000f", "530065007200760065007200",
        "02000c0044006f006d00610069006e00", "01000c00530065007200760065007200", "00000000",
    ].joined()

    private static func bytes(_ text: String) -> [UInt8] {
        let digits = Array(text.utf8)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
    }

    private static let challenge = NTLMChallengeMessage(
        flags: [.unicode, .ntlm, .hasAttributes], challenge: [1, 2, 3, 4, 5, 6, 7, 8], target: [0x41, 0],
        attributes: [NTLMAttribute(1, [0x42, 0]), NTLMAttribute(7, [1, 0, 0, 0, 0, 0, 0, 0])])
    private static let answer = NTLMAuthenticateMessage(
        flags: .unicode, lmResponse: [UInt8](repeating: 1, count: 24), ntResponse: [UInt8](repeating: 2, count: 40),
        domain: [0x44, 0], user: [0x55, 0], integrityCode: [UInt8](repeating: 3, count: 16))

    @Test("The challenge of MS-NLMP §4.2.4.3")
    func vector() throws {
        let message = try NTLMChallengeMessage(parsing: Self.bytes(Self.example))
        #expect(message.flags.rawValue == 0xE28A_8233)
        #expect(message.challenge == [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF])
        #expect(message.target == NTLMMessage.utf16("Server"))
        #expect(
            message.attributes == [
                NTLMAttribute(2, NTLMMessage.utf16("Domain")), NTLMAttribute(1, NTLMMessage.utf16("Server")),
            ])
    }

    @Test("Messages are read as they were written")
    func roundTrip() throws {
        let first = NTLMNegotiateMessage(flags: [.unicode, .ntlm])
        #expect(try NTLMNegotiateMessage(parsing: first.encoded) == first)
        #expect(try NTLMChallengeMessage(parsing: #require(Self.challenge.encoded)) == Self.challenge)
        var answer = Self.answer
        #expect(try NTLMAuthenticateMessage(parsing: #require(answer.encoded), hasIntegrityCode: true) == answer)
        answer.integrityCode = nil
        #expect(try NTLMAuthenticateMessage(parsing: #require(answer.encoded), hasIntegrityCode: false) == answer)
    }

    @Test("An old challenge ends before the attributes")
    func old() throws {
        let bytes = Self.bytes("4e544c4d5353500002000000" + "0000000030000000" + "01020000" + "0123456789abcdef")
        let message = try NTLMChallengeMessage(parsing: bytes)
        #expect(message.attributes.isEmpty && message.target.isEmpty && message.flags.contains(.unicode))
    }

    @Test("Each shorter message is refused, and so is a value outside of the message")
    func truncated() throws {
        let whole = Self.bytes(Self.example)
        for count in 0..<whole.count {
            #expect(throws: WireError.self) { try NTLMChallengeMessage(parsing: Array(whole.prefix(count))) }
        }
        var far = whole
        far[44..<48] = [0xFF, 0xFF, 0xFF, 0xFF]
        #expect(throws: WireError.invalid("value position", at: 0xFFFF_FFFF)) {
            try NTLMChallengeMessage(parsing: far)
        }
        let answer = try #require(Self.answer.encoded)
        for count in 0..<answer.count {
            #expect(throws: WireError.self) {
                try NTLMAuthenticateMessage(parsing: Array(answer.prefix(count)), hasIntegrityCode: true)
            }
        }
        #expect(throws: WireError.invalid("message type", at: 8)) { try NTLMChallengeMessage(parsing: answer) }
    }

    @Test("A value that no message can carry is not written")
    func tooLong() {
        let long = [UInt8](repeating: 0, count: 65_536)
        #expect(NTLMAttribute.encode([NTLMAttribute(1, long)]) == nil)
        var answer = Self.answer
        answer.user = long
        #expect(answer.encoded == nil)
    }
}
