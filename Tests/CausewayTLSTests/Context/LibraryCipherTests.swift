import CCausewayLibraries
import Testing

@testable import CausewayTLS

@Suite("Message authentication and AES by OpenSSL")
struct LibraryCipherTests {
    static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0..<$0 + 2]), radix: 16) ?? 0 }
    }
    static let zeros = [UInt8](repeating: 0, count: 16)
    /// Test case 2 of the specification of GCM: one block of zeros, with zeros as key and nonce.
    static let sealed = bytes("0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf")

    @Test("HMAC with SHA-256 (RFC 4231 §4.3)")
    func authentication() {
        let digest = LibraryCipher.hmacSHA256(
            key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8))
        #expect(digest == Self.bytes("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
    }

    @Test("One block of AES-128 (FIPS 197 §C.1)")
    func block() {
        let key = Self.bytes("000102030405060708090a0b0c0d0e0f")
        let block = Self.bytes("00112233445566778899aabbccddeeff")
        #expect(LibraryCipher.aes128(key: key, block: block) == Self.bytes("69c4e0d86a7b0430d8cdb78070b4c55a"))
        #expect(LibraryCipher.aes128(key: key, block: block + [0]) == nil)
        #expect(LibraryCipher.aes128(key: [], block: block) == nil)
    }

    @Test("AES-128-GCM opens what is authentic only")
    func opening() {
        let nonce = [UInt8](repeating: 0, count: 12)
        func open(_ sealed: [UInt8], _ authenticated: [UInt8] = [], nonce: [UInt8] = nonce) -> [UInt8]? {
            LibraryCipher.openAES128GCM(key: Self.zeros, nonce: nonce, authenticated: authenticated, sealed: sealed)
        }
        #expect(open(Self.sealed) == Self.zeros)
        for index in Self.sealed.indices {
            var wrong = Self.sealed
            wrong[index] ^= 1
            #expect(open(wrong) == nil, "byte \(index)")
        }
        #expect(open(Self.sealed, [0]) == nil)
        #expect(open(Self.sealed.dropLast()) == nil)
        #expect(open([]) == nil)
        #expect(open(Self.sealed, nonce: Self.zeros) == nil)
        #expect(OpenSSLLibrary.takeReason() == "no reason given")
    }

    @Test("Only the tag: no bytes are opened (test case 1 of the specification of GCM)")
    func tagAlone() {
        let opened = LibraryCipher.openAES128GCM(
            key: Self.zeros, nonce: [UInt8](repeating: 0, count: 12), authenticated: [],
            sealed: Self.bytes("58e2fccefa7e3061367f1d57a4e7455a"))
        #expect(opened == [])
    }

    @Test("A failure leaves no errors that a connection would report as its own")
    func errors() async {
        await #expect(processExitsWith: .success) {
            try OpenSSLLibrary.load()
            // The provider "null" has no algorithms. Because it is loaded, OpenSSL does not load its default provider.
            try #require(cw_OSSL_PROVIDER_load(nil, "null") != nil)
            #expect(LibraryCipher.hmacSHA256(key: [1], message: [2]) == nil)
            #expect(OpenSSLLibrary.takeReason() == "no reason given", "HMAC")
            #expect(SignatureDigest.sha384.hash([1]) == nil)
            #expect(OpenSSLLibrary.takeReason() == "no reason given", "digest")
            #expect(LibrarySHA256() == nil)
            #expect(OpenSSLLibrary.takeReason() == "no reason given", "incremental digest")
            #expect(sha256([1]).isEmpty)
            #expect(OpenSSLLibrary.takeReason() == "no reason given", "SHA-256")
        }
    }
}
