import CausewayTLS
import Foundation
import Testing

@testable import Causeway

/// A certificate that a test encodes. The test signs it with a key from the Security API.
struct SelfSigned {
    let key: SecKey
    let certificate: SecCertificate

    static let notBefore: Int64 = 1_700_000_000
    static let notAfter: Int64 = 4_000_000_000

    init(_ type: CFString, _ bits: Int) throws {
        let key = try #require(SecKeyCreateRandomKey([kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits], nil))
        try self.init(key)
    }

    init(_ key: SecKey, subject: String = "self-signed") throws {
        self.key = key
        let attributes = try #require(SecKeyCopyAttributes(key))
        let isRSA = attributes[kSecAttrKeyType] as? String == kSecAttrKeyTypeRSA
        let algorithm =
            isRSA
            ? DERWriter.sequence(DERWriter.identifier(1, 2, 840, 113_549, 1, 1, 11), DERWriter.value(5, []))
            : DERWriter.sequence(DERWriter.identifier(1, 2, 840, 10_045, 4, 3, 2))
        let attribute = DERWriter.sequence(DERWriter.identifier(2, 5, 4, 3), DERWriter.text(subject))
        let name = DERWriter.sequence(DERWriter.set(attribute))
        let validity = DERWriter.sequence(DERWriter.time(Self.notBefore), DERWriter.time(Self.notAfter))
        let body = DERWriter.sequence(
            DERWriter.tagged(0, DERWriter.integer([2])), DERWriter.integer([7]), algorithm, name, validity, name,
            try Self.publicKey(key))
        let signature = try #require(
            SecKeyCreateSignature(
                key, isRSA ? .rsaSignatureMessagePKCS1v15SHA256 : .ecdsaSignatureMessageX962SHA256, Data(body), nil))
        let der = DERWriter.sequence(body, algorithm, DERWriter.bits([UInt8](signature)))
        certificate = try #require(SecCertificateCreateWithData(nil, Data(der)))
    }

    private static func publicKey(_ key: SecKey) throws -> [UInt8] {
        let half = try #require(SecKeyCopyPublicKey(key))
        let bytes = [UInt8](try #require(SecKeyCopyExternalRepresentation(half, nil)))
        let curve = NamedCurve.allCases.first { 1 + 2 * $0.byteCount == bytes.count }
        return curve.map { PublicKeyInfo.encode(point: bytes, curve: $0) } ?? PublicKeyInfo.encode(rsa: bytes)
    }
}
