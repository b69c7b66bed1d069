import Testing

@testable import CausewayWire

/// FIPS 180-4, with the examples that NIST publishes.
@Suite("SHA-256")
struct SHA256Tests {
    static let vectors: [(content: String, digest: String)] = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            String(repeating: "a", count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ]

    @Test(arguments: vectors)
    func matchesPublishedDigest(_ vector: (content: String, digest: String)) {
        #expect(Self.digest(of: [Array(vector.content.utf8)]) == vector.digest)
    }

    @Test("The fragmentation of the input does not matter", arguments: [1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 200])
    func cutsDoNotMatter(_ count: Int) {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let whole = Self.digest(of: [content])
        #expect(Self.digest(of: content.map { [$0] }) == whole)
        #expect(Self.digest(of: [Array(content.prefix(count / 3)), Array(content.dropFirst(count / 3))]) == whole)
        #expect(Self.digest(of: [Array(content.dropLast())]) != whole)
    }

    private static func digest(of pieces: [[UInt8]]) -> String {
        var hash = SHA256()
        for piece in pieces { hash.update(piece.span.bytes) }
        return hash.finish().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
