import Testing

@testable import CausewayTLS

@Suite("Rules for public keys")
struct SigningKeyTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let key: [UInt8]
        /// A text that the reason for refusing the key must contain; `nil` if the key may be used.
        let reason: String?

        init(_ name: String, _ key: [UInt8], _ reason: String? = nil) {
            testDescription = name
            self.key = key
            self.reason = reason
        }
    }

    private static func rsa(_ bits: Int, _ exponent: [UInt8]) -> [UInt8] {
        HostileKeys.rsa(modulusBits: bits, exponent: exponent)
    }

    private static let p256 = DERWriter.identifier(1, 2, 840, 10_045, 3, 1, 7)
    private static let sect571 = DERWriter.identifier(1, 3, 132, 0, 39)

    static let rows = [
        Row("RSA 2,048, exponent 65,537", rsa(2_048, [1, 0, 1])), Row("RSA 8,192, exponent 3", rsa(8_192, [3])),
        Row("exponent 2^32-1", rsa(3_072, [255, 255, 255, 255])),
        Row("RSA 2,047", rsa(2_047, [1, 0, 1]), "RSA 2047 bits"),
        Row("RSA 8,193", rsa(8_193, [1, 0, 1]), "RSA 8193 bits"),
        Row("exponent 1", rsa(3_072, [1]), "exponent"), Row("exponent 4", rsa(3_072, [4]), "exponent"),
        Row("exponent 2^32+1", rsa(3_072, [1, 0, 0, 0, 1])),
        Row("exponent 2^64-1", rsa(8_192, [UInt8](repeating: 255, count: 8))),
        Row("exponent 2^64+1", rsa(3_072, [1, 0, 0, 0, 0, 0, 0, 0, 1]), "exponent"),
        Row("exponent of 3,070 bits", HostileKeys.longExponent(1), "exponent"),
        Row(
            "even modulus", HostileKeys.rsa(modulus: [UInt8](repeating: 0xfe, count: 256), exponent: [3]),
            "even modulus"),
        Row("P-256", HostileKeys.namedCurve(p256, byteCount: 64)),
        Row("sect571r1", HostileKeys.namedCurve(sect571, byteCount: 144), "1.3.132.0.39"),
        Row("curve with explicit parameters", HostileKeys.writtenOutCurve(), "explicit"),
        Row("no bytes", [], "truncated"),
    ]

    @Test("Keys are accepted or refused without arithmetic", arguments: rows)
    func rules(_ row: Row) {
        do throws(SigningKey.Problem) {
            _ = try SigningKey(row.key[...])
            #expect(row.reason == nil)
        } catch {
            #expect(row.reason.map { error.reason.contains($0) } == true, "\(error.reason)")
        }
    }

    @Test("Keys that the library creates are recognized")
    func madeKeys() throws {
        let kinds: [(CertificateTemplate.KeyKind, SigningKey.Kind)] = [
            (.p256, .curve(.p256)), (.p384, .curve(.p384)), (.ed25519, .curve(.ed25519)),
            (.rsa(bits: 2_048), .rsa(modulusBits: 2_048, exponent: 65_537)),
        ]
        for (kind, expected) in kinds {
            let certificate = Authority("Kind") { $0.keyKind = kind }.certificate
            #expect(try SigningKey(certificate.subjectPublicKeyInfo[...]).kind == expected)
        }
    }

    @Test("The cost of a signature check depends on the size of the key and of its exponent")
    func costs() throws {
        func cost(_ bits: Int, _ exponent: [UInt8]) throws -> Int {
            try SigningKey(Self.rsa(bits, exponent)[...]).verificationCost
        }
        #expect(try cost(2_048, [1, 0, 1]) == 50)
        #expect(try cost(8_192, [1, 0, 1]) == 808)
        // These costs are at least the measured times.
        #expect(try cost(2_048, [255, 255, 255, 255]) == 88)
        #expect(try cost(2_048, [UInt8](repeating: 255, count: 8)) == 168)
    }
}
