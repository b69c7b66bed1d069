import Testing

@testable import CausewayTLS

@Suite("SHA-256 by OpenSSL")
struct LibrarySHA256Tests {
    /// Test vectors: the example messages of FIPS 180-4, and a message of one million "a" characters.
    static let vectors: [(message: [UInt8], digest: String)] = [
        ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (Array("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ]

    @Test("Known digests, with any fragmentation of the message", arguments: [1, 55, 64, 65, 1_000_000])
    func vectors(pieceLength: Int) throws {
        for (message, expected) in Self.vectors {
            let digest = try #require(LibrarySHA256())
            for start in stride(from: 0, to: message.count, by: pieceLength) {
                let piece = Array(message[start..<min(message.count, start + pieceLength)])
                piece.withUnsafeBytes { digest.update($0) }
            }
            let text = digest.finish().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            #expect(text == expected)
        }
    }

    @Test("A returned digest does not change")
    func finishTwice() throws {
        let digest = try #require(LibrarySHA256())
        #expect(digest.finish().count == LibrarySHA256.byteCount)
        #expect(digest.finish() == [])
    }
}
