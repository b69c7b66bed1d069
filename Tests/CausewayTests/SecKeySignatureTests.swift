import CausewayTLS
import Foundation
import Testing

@testable import Causeway

@Suite("Signatures of keys")
struct SecKeySignatureTests {
    private static let digests: [SignatureDigest] = [.sha1, .sha224, .sha256, .sha384, .sha512]
    private static let message = Data("What a peer signs".utf8)
    private static let rsa = SecKeyCreateRandomKey(
        [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 2_048], nil)
    private static let curves = [256, 384, 521].map { bits in
        SecKeyCreateRandomKey([kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeySizeInBits: bits], nil)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var digest: SecKeyAlgorithm
        var message: SecKeyAlgorithm
        var hash: SignatureDigest
        var testDescription: String { message.rawValue }
    }

    static let rsaRows =
        zip(
            [
                (SecKeyAlgorithm.rsaSignatureDigestPKCS1v15SHA1, SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA1),
                (.rsaSignatureDigestPKCS1v15SHA224, .rsaSignatureMessagePKCS1v15SHA224),
                (.rsaSignatureDigestPKCS1v15SHA256, .rsaSignatureMessagePKCS1v15SHA256),
                (.rsaSignatureDigestPKCS1v15SHA384, .rsaSignatureMessagePKCS1v15SHA384),
                (.rsaSignatureDigestPKCS1v15SHA512, .rsaSignatureMessagePKCS1v15SHA512),
                (.rsaSignatureDigestPSSSHA1, .rsaSignatureMessagePSSSHA1),
                (.rsaSignatureDigestPSSSHA224, .rsaSignatureMessagePSSSHA224),
                (.rsaSignatureDigestPSSSHA256, .rsaSignatureMessagePSSSHA256),
                (.rsaSignatureDigestPSSSHA384, .rsaSignatureMessagePSSSHA384),
                (.rsaSignatureDigestPSSSHA512, .rsaSignatureMessagePSSSHA512),
            ], digests + digests
        ).map { Row(digest: $0.0, message: $0.1, hash: $1) }

    static let curveRows =
        zip(
            [
                (SecKeyAlgorithm.ecdsaSignatureDigestX962SHA1, SecKeyAlgorithm.ecdsaSignatureMessageX962SHA1),
                (.ecdsaSignatureDigestX962SHA224, .ecdsaSignatureMessageX962SHA224),
                (.ecdsaSignatureDigestX962SHA256, .ecdsaSignatureMessageX962SHA256),
                (.ecdsaSignatureDigestX962SHA384, .ecdsaSignatureMessageX962SHA384),
                (.ecdsaSignatureDigestX962SHA512, .ecdsaSignatureMessageX962SHA512),
            ], digests
        ).map { Row(digest: $0.0, message: $0.1, hash: $1) }

    private func code(_ body: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> Bool) -> OSStatus? {
        SecKeyCreationTests.code(body)
    }

    /// An algorithm has two forms: its input is a message or a digest. Signs with each form, and verifies each
    /// signature with both forms.
    private func check(_ row: Row, _ key: SecKey) throws {
        let verifier = try #require(SecKeyCopyPublicKey(key))
        let hash = Data(try #require(row.hash.hash([UInt8](Self.message))))
        for (algorithm, input) in [(row.digest, hash), (row.message, Self.message)] {
            #expect(SecKeyIsAlgorithmSupported(key, .sign, algorithm))
            #expect(SecKeyIsAlgorithmSupported(verifier, .verify, algorithm))
            #expect(!SecKeyIsAlgorithmSupported(verifier, .sign, algorithm))
            #expect(!SecKeyIsAlgorithmSupported(key, .verify, algorithm))
            let signature = try #require(SecKeyCreateSignature(key, algorithm, input, nil))
            #expect(code { SecKeyVerifySignature(verifier, row.digest, hash, signature, $0) } == nil)
            #expect(code { SecKeyVerifySignature(verifier, row.message, Self.message, signature, $0) } == nil)
            for wrong in [Data(), signature.dropLast(), signature + [0], Data(signature.reversed())] {
                #expect(code { SecKeyVerifySignature(verifier, algorithm, input, wrong, $0) } == errSecVerifyFailed)
            }
            var other = input
            other[0] ^= 1
            #expect(code { SecKeyVerifySignature(verifier, algorithm, other, signature, $0) } == errSecVerifyFailed)
            #expect(!SecKeyVerifySignature(verifier, algorithm, other, signature, nil))
        }
        for length in [hash.dropLast(), hash + [0], Data()] {
            #expect(code { SecKeyCreateSignature(key, row.digest, length, $0) != nil } == errSecParam)
            #expect(code { SecKeyVerifySignature(verifier, row.digest, length, hash, $0) } == errSecParam)
        }
    }

    @Test("RSA signs and verifies messages and digests", arguments: rsaRows)
    func rsaSignatures(_ row: Row) throws {
        try check(row, try #require(Self.rsa))
        // The signature is not valid for other paddings and digests.
        let key = try #require(Self.rsa)
        let verifier = try #require(SecKeyCopyPublicKey(key))
        let signature = try #require(SecKeyCreateSignature(key, row.message, Self.message, nil))
        for other in Self.rsaRows where other.message != row.message {
            #expect(!SecKeyVerifySignature(verifier, other.message, Self.message, signature, nil))
        }
    }

    @Test("ECDSA signs and verifies messages and digests on each curve", arguments: curveRows)
    func curveSignatures(_ row: Row) throws {
        for key in Self.curves { try check(row, try #require(key)) }
    }

    @Test("PKCS #1 v1.5 is the padded DigestInfo, raised to the private exponent")
    func layers() throws {
        let key = try #require(Self.rsa)
        let hash = try #require(SignatureDigest.sha256.hash([UInt8](Self.message)))
        // RFC 8017 §9.2, note 1.
        let info: [UInt8] =
            [
                0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
                0x04, 0x20,
            ] + hash
        let padded = [0, 1] + [UInt8](repeating: 0xff, count: 256 - 3 - info.count) + [0] + info
        let signatures = [
            SecKeyCreateSignature(key, .rsaSignatureMessagePKCS1v15SHA256, Self.message, nil),
            SecKeyCreateSignature(key, .rsaSignatureDigestPKCS1v15SHA256, Data(hash), nil),
            SecKeyCreateSignature(key, .rsaSignatureDigestPKCS1v15Raw, Data(info), nil),
            SecKeyCreateSignature(key, .rsaSignatureRaw, Data(padded), nil),
        ]
        let signature = try #require(signatures[0])
        #expect(signatures.allSatisfy { $0 == signature })
        let verifier = try #require(SecKeyCopyPublicKey(key))
        #expect(SecKeyVerifySignature(verifier, .rsaSignatureRaw, Data(padded), signature, nil))
        #expect(SecKeyVerifySignature(verifier, .rsaSignatureDigestPKCS1v15Raw, Data(info), signature, nil))
        let long = Data(repeating: 1, count: 246)
        #expect(code { SecKeyCreateSignature(key, .rsaSignatureDigestPKCS1v15Raw, long, $0) != nil } == errSecParam)
        #expect(code { SecKeyCreateSignature(key, .rsaSignatureRaw, long, $0) != nil } == errSecParam)
    }

    struct Vector: Sendable, CustomTestStringConvertible {
        var bits: Int
        var point: String
        var value: String
        var signature: (r: String, s: String)
        var algorithm: SecKeyAlgorithm
        var testDescription: String { "\(bits)" }
    }

    /// Keys from RFC 6979 §A.2.5, §A.2.6 and §A.2.7, and their signatures of the text "sample".
    static let vectors = [
        Vector(
            bits: 256,
            point: "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"
                + "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299",
            value: "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721",
            signature: (
                "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716",
                "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
            ), algorithm: .ecdsaSignatureMessageX962SHA256),
        Vector(
            bits: 384,
            point: "EC3A4E415B4E19A4568618029F427FA5DA9A8BC4AE92E02E06AAE5286B300C64DEF8F0EA9055866064A254515480BC13"
                + "8015D9B72D7D57244EA8EF9AC0C621896708A59367F9DFB9F54CA84B3F1C9DB1288B231C3AE0D4FE7344FD2533264720",
            value: "6B9D3DAD2E1B8C1C05B19875B6659F4DE23C3B667BF297BA9AA47740787137D896D5724E4C70A825F872C9EA60D2EDF5",
            signature: (
                "94EDBB92A5ECB8AAD4736E56C691916B3F88140666CE9FA73D64C4EA95AD133C81A648152E44ACF96E36DD1E80FABE46",
                "99EF4AEB15F178CEA1FE40DB2603138F130E740A19624526203B6351D0A3A94FA329C145786E679E7B82C71A38628AC8"
            ), algorithm: .ecdsaSignatureMessageX962SHA384),
        Vector(
            bits: 521,
            point: "01894550D0785932E00EAA23B694F213F8C3121F86DC97A04E5A7167DB4E5BCD371123D46E45DB6B5D5370A7F20FB633"
                + "155D38FFA16D2BD761DCAC474B9A2F5023A400493101C962CD4D2FDDF782285E64584139C2F91B47F87FF82354D6630F"
                + "746A28A0DB25741B5B34A828008B22ACC23F924FAAFBD4D33F81EA66956DFEAA2BFDFCF5",
            value: "00FAD06DAA62BA3B25D2FB40133DA757205DE67F5BB0018FEE8C86E1B68C7E75CAA896EB32F1F47C70855836A6D16FCC"
                + "1466F6D8FBEC67DB89EC0C08B0E996B83538",
            signature: (
                "C328FAFCBD79DD77850370C46325D987CB525569FB63C5D3BC53950E6D4C5F174E25A1EE9017B5D450606ADD152B5349"
                    + "31D7D4E8455CC91F9B15BF05EC36E377FA",
                "617CCE7CF5064806C467F678D3B4080D6F1CC50AF26CA209417308281B68AF282623EAA63E5B5C0723D8B8C37FF0777B"
                    + "1A20F8CCB1DCCC43997F1EE0E44DA4A67A"
            ), algorithm: .ecdsaSignatureMessageX962SHA512),
    ]

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)
        }
    }

    @Test("Published keys are read, and verify their published signatures", arguments: vectors)
    func published(_ vector: Vector) throws {
        let point = [4] + Self.bytes(vector.point)
        func attributes(_ keyClass: CFString) -> CFDictionary {
            [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: keyClass]
        }
        let verifier = try #require(SecKeyCreateWithData(Data(point), attributes(kSecAttrKeyClassPublic), nil))
        var numbers = DERWriter.integer(Self.bytes(vector.signature.r))
        numbers += DERWriter.integer(Self.bytes(vector.signature.s))
        let signature = Data(DERWriter.value(0x30, numbers))
        let sample = Data("sample".utf8)
        #expect(SecKeyVerifySignature(verifier, vector.algorithm, sample, signature, nil))
        #expect(!SecKeyVerifySignature(verifier, vector.algorithm, Data("Sample".utf8), signature, nil))
        let bytes = Data(point + Self.bytes(vector.value))
        let key = try #require(SecKeyCreateWithData(bytes, attributes(kSecAttrKeyClassPrivate), nil))
        #expect(SecKeyCopyPublicKey(key) == verifier)
        let own = try #require(SecKeyCreateSignature(key, vector.algorithm, sample, nil))
        #expect(SecKeyVerifySignature(verifier, vector.algorithm, sample, own, nil))
    }

    @Test("A key refuses algorithms of the other type, unknown names, and other operations")
    func unsupported() throws {
        let keys = [try #require(Self.rsa), try #require(Self.curves[0])]
        let foreign = [SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256, .rsaSignatureMessagePSSSHA256]
        let unknown = SecKeyAlgorithm(rawValue: "algid:sign:RSA:unknown")
        for (key, algorithm) in zip(keys, foreign) {
            let verifier = try #require(SecKeyCopyPublicKey(key))
            for algorithm in [algorithm, unknown] {
                #expect(!SecKeyIsAlgorithmSupported(key, .sign, algorithm))
                #expect(code { SecKeyCreateSignature(key, algorithm, Self.message, $0) != nil } == errSecParam)
                let isVerified = code { SecKeyVerifySignature(verifier, algorithm, Self.message, Data([1]), $0) }
                #expect(isVerified == errSecParam)
            }
        }
        let own = SecKeyAlgorithm.rsaSignatureMessagePSSSHA256
        for operation: SecKeyOperationType in [.encrypt, .decrypt, .keyExchange] {
            #expect(!SecKeyIsAlgorithmSupported(keys[0], operation, own))
        }
        let verifier = try #require(SecKeyCopyPublicKey(keys[0]))
        #expect(code { SecKeyCreateSignature(verifier, own, Self.message, $0) != nil } == errSecParam)
        #expect(code { SecKeyVerifySignature(keys[0], own, Self.message, Data([1]), $0) } == errSecParam)
        let broken = SecKey(.publicKey(Data([0x30, 1, 2])))
        #expect(code { SecKeyVerifySignature(broken, own, Self.message, Data([1]), $0) } == errSecParam)
    }

    @Test("A short RSA key has no room for PSS with SHA-512")
    func room() throws {
        let attributes: CFDictionary = [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 1_024]
        let key = try #require(SecKeyCreateRandomKey(attributes, nil))
        #expect(SecKeyIsAlgorithmSupported(key, .sign, .rsaSignatureMessagePSSSHA384))
        #expect(!SecKeyIsAlgorithmSupported(key, .sign, .rsaSignatureMessagePSSSHA512))
        let refused = code { SecKeyCreateSignature(key, .rsaSignatureMessagePSSSHA512, Self.message, $0) != nil }
        #expect(refused == errSecParam)
        #expect(SecKeyCreateSignature(key, .rsaSignatureMessagePSSSHA384, Self.message, nil)?.count == 128)
    }

    @Test("ECDSA signs a digest of any length")
    func anyDigest() throws {
        let key = try #require(Self.curves[0])
        let verifier = try #require(SecKeyCopyPublicKey(key))
        for count in [1, 20, 64, 100] {
            let digest = Data(repeating: 7, count: count)
            let signature = try #require(SecKeyCreateSignature(key, .ecdsaSignatureDigestX962, digest, nil))
            #expect(SecKeyVerifySignature(verifier, .ecdsaSignatureDigestX962, digest, signature, nil))
        }
    }

    @Test("The names of algorithms are those of Apple's interface")
    func names() {
        #expect(SecKeyAlgorithm.rsaSignatureRaw.rawValue == "algid:sign:RSA:raw")
        #expect(SecKeyAlgorithm.rsaSignatureDigestPKCS1v15Raw.rawValue == "algid:sign:RSA:digest-PKCS1v15")
        #expect(
            SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA1.rawValue == "algid:sign:RSA:message-PKCS1v15:SHA1")
        #expect(SecKeyAlgorithm.rsaSignatureDigestPSSSHA256.rawValue == "algid:sign:RSA:digest-PSS:SHA256:SHA256:32")
        #expect(SecKeyAlgorithm.ecdsaSignatureDigestX962.rawValue == "algid:sign:ECDSA:digest-X962")
        let same = SecKeyAlgorithm(rawValue: "algid:sign:ECDSA:message-X962:SHA512")
        #expect(same == .ecdsaSignatureMessageX962SHA512)
        #expect(SecKeyOperationType(rawValue: 1) == .verify)
    }
}
