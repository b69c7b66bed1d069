import CausewayTestKit
import Testing

@testable import CausewayTLS

@Suite("Keys without certificates")
struct PrivateKeyTests {
    /// An RSA key of 1,024 bits. It is made quickly, and the rules permit this length.
    private static let rsa = try? PrivateKey(generatingRSA: 1_024)

    private static func x963(_ key: PrivateKey) throws -> [UInt8] {
        let info = try #require(PublicKeyInfo(key.publicKeyInfo))
        return try #require(info.bare(privateKey: key.der))
    }

    @Test("Digests have the published values")
    func digests() {
        let prefixes: [SignatureDigest: [UInt8]] = [
            .sha1: [0xa9, 0x99, 0x3e, 0x36], .sha224: [0x23, 0x09, 0x7d, 0x22], .sha256: [0xba, 0x78, 0x16, 0xbf],
            .sha384: [0xcb, 0x00, 0x75, 0x3f], .sha512: [0xdd, 0xaf, 0x35, 0xa1],
        ]
        for digest in SignatureDigest.allCases {
            let hash = digest.hash(Array("abc".utf8))
            #expect(hash?.count == digest.byteCount)
            #expect(hash?.starts(with: prefixes[digest] ?? [0, 0, 0, 0]) == true)
        }
    }

    @Test("A key on a curve is read back, and no other bytes of its length are", arguments: NamedCurve.allCases)
    func curves(_ curve: NamedCurve) throws {
        let bytes = try Self.x963(try PrivateKey(generating: curve))
        #expect(bytes.count == 1 + 3 * curve.byteCount)
        #expect(try Self.x963(try PrivateKey(x963: bytes)) == bytes)
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1
            #expect(throws: TLSFailure.self) { try PrivateKey(x963: damaged) }
        }
        for count in 0..<bytes.count {
            #expect(throws: TLSFailure.self) { try PrivateKey(x963: Array(bytes.prefix(count))) }
        }
        // Private values that are zero, or larger than the order of the curve.
        let point = bytes.prefix(1 + 2 * curve.byteCount)
        for byte: UInt8 in [0, 0xff] {
            let value = [UInt8](repeating: byte, count: curve.byteCount)
            #expect(throws: TLSFailure.self) { try PrivateKey(x963: point + value) }
        }
    }

    @Test("A private value may not exceed the order of its curve, even if the point is right")
    func order() throws {
        // The scalar 1 and the scalar "order of P-256 plus 1" give the same public key: the base point (FIPS 186-4
        // §D.1.2.3).
        let base: [UInt8] = [
            0x04, 0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2, 0x77,
            0x03, 0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96, 0x4f, 0xe3, 0x42,
            0xe2, 0xfe, 0x1a, 0x7f, 0x9b, 0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e, 0x16, 0x2b, 0xce, 0x33, 0x57, 0x6b,
            0x31, 0x5e, 0xce, 0xcb, 0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51, 0xf5,
        ]
        let one = [UInt8](repeating: 0, count: 31) + [1]
        let orderPlusOne: [UInt8] = [
            0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad,
            0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x52,
        ]
        #expect(try Self.x963(try PrivateKey(x963: base + one)) == base + one)
        #expect(throws: TLSFailure.self) { try PrivateKey(x963: base + orderPlusOne) }
    }

    @Test("An RSA key is read back, and damaged bytes never give another public key")
    func rsa() throws {
        let key = try #require(Self.rsa)
        let bytes = key.der
        #expect(try PrivateKey(rsa: bytes).der == bytes)
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0x10
            guard let read = try? PrivateKey(rsa: damaged) else { continue }
            #expect(read.publicKeyInfo == key.publicKeyInfo, "byte \(index)")
        }
        for count in stride(from: 0, to: bytes.count, by: 7) {
            #expect(throws: TLSFailure.self) { try PrivateKey(rsa: Array(bytes.prefix(count))) }
        }
        #expect(throws: TLSFailure.self) { try PrivateKey(rsa: bytes + [0]) }
    }

    @Test("The numbers of two RSA keys do not make one key")
    func mixture() throws {
        let one = try #require(Self.rsa)
        var fields = DERReader(try Self.content(one.der))
        var others = DERReader(try Self.content(try PrivateKey(generatingRSA: 1_024).der))
        var mixed: [UInt8] = []
        // Mix two keys. The version, the modulus and the exponent come from the first key. The other numbers come from
        // the second key.
        for index in 0..<9 {
            let (mine, theirs) = (try fields.next(), try others.next())
            mixed += index < 3 ? mine.encoding : theirs.encoding
        }
        let failure = #expect(throws: TLSFailure.self) { try PrivateKey(rsa: DERWriter.value(0x30, mixed)) }
        #expect(failure?.message == "the numbers of the RSA key do not belong together")
    }

    @Test("RSA keys need a size within the limits, an odd modulus and an odd exponent")
    func limits() throws {
        let modulus = [UInt8](repeating: 0xff, count: 128)
        func info(_ modulus: [UInt8], _ exponent: [UInt8]) -> [UInt8] {
            PublicKeyInfo.encode(
                rsa: DERWriter.sequence(DERWriter.integer(modulus), DERWriter.integer(exponent)))
        }
        _ = try PublicKey(exactly: info(modulus, [3]))
        for (modulus, exponent) in [
            (Array(modulus.dropLast()), [3]), (modulus.dropLast() + [0xfe], [3]), (modulus, [4]), (modulus, [1]),
            ([UInt8](repeating: 0xff, count: 1_025), [3]), (modulus, [UInt8](repeating: 0xff, count: 9)),
        ] {
            #expect(throws: TLSFailure.self) { try PublicKey(exactly: info(modulus, exponent)) }
        }
        // The same key, but its encoding leaves out the algorithm's parameters.
        let short = DERWriter.sequence(
            DERWriter.sequence(DERWriter.identifier(1, 2, 840, 113_549, 1, 1, 1)),
            DERWriter.bits(DERWriter.sequence(DERWriter.integer(modulus), DERWriter.integer([3]))))
        #expect(throws: TLSFailure.self) { try PublicKey(exactly: short) }
        #expect(PublicKeyInfo.canonical(short) == info(modulus, [3]))
        #expect(PublicKeyInfo.canonical([1, 2]) == [1, 2])
    }

    private static func content(_ der: [UInt8]) throws(DERError) -> ArraySlice<UInt8> {
        var outer = DERReader(der[...])
        return try outer.next(DERTag.sequence)
    }
}
