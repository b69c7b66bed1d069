import Foundation
import Testing

@testable import Causeway

@Suite("Certificates, identities and trust")
struct SecurityObjectTests {
    private static let leaf = SecCertificate(data: Data([0x30, 0x01, 0x01]))
    private static let issuer = SecCertificate(data: Data([0x30, 0x01, 0x02]))

    static let sequences: [([UInt8], Bool)] = [
        ([0x30, 0x00], true), ([0x30, 0x02, 1, 2], true), ([0x30, 0x81, 0x01, 9], true),
        ([0x30, 0x82, 0x00, 0x01, 9], true), ([], false), ([0x30], false), ([0x31, 0x00], false),
        ([0x30, 0x02, 1], false), ([0x30, 0x00, 1], false), ([0x30, 0x80], false), ([0x30, 0x82, 0x01], false),
        ([0x30, 0x85, 0, 0, 0, 0, 1, 9], false), ([0x30, 0x84, 0xff, 0xff, 0xff, 0xff], false),
    ]

    @Test("A certificate is exactly one SEQUENCE", arguments: sequences)
    func certificates(bytes: [UInt8], isTaken: Bool) {
        let certificate = SecCertificateCreateWithData(nil, Data(bytes) as CFData)
        #expect((certificate != nil) == isTaken)
        if let certificate { #expect(SecCertificateCopyData(certificate) == Data(bytes)) }
        // The indices of this slice do not begin at 0.
        #expect((SecCertificateCreateWithData(nil, Data([7] + bytes).dropFirst()) != nil) == isTaken)
    }

    @Test("Identities keep their certificate, key and chain")
    func identities() throws {
        let identity = SecIdentity(certificate: Self.leaf, privateKey: SecKey(.publicKey(Data([1]))))
        let plain = try #require(sec_identity_create(identity))
        #expect(sec_identity_copy_ref(plain)?.takeRetainedValue() === identity)
        #expect(!sec_identity_access_certificates(plain) { _ in Issue.record("no chain") })
        #expect(sec_identity_copy_certificates_ref(plain) == nil)
        let chained = try #require(
            sec_identity_create_with_certificates(identity, [Self.leaf, Self.issuer] as CFArray))
        #expect(chained.chain == [Self.issuer])
        let array = sec_identity_copy_certificates_ref(chained)?.takeRetainedValue() as? [SecCertificate]
        #expect(array == [Self.issuer])
        #expect(sec_identity_create_with_certificates(identity, ["no certificate"]) == nil)
        var certificate: SecCertificate?
        #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess)
        #expect(certificate == Self.leaf)
    }

    @Test("A trust that cannot be evaluated is not trusted")
    func distrust() throws {
        var made: SecTrust?
        let policy = SecPolicyCreateSSL(true, "example.org" as CFString)
        #expect(SecTrustCreateWithCertificates([Self.leaf, Self.issuer] as CFArray, policy, &made) == errSecSuccess)
        let trust = try #require(made)
        var error: CFError?
        #expect(!SecTrustEvaluateWithError(trust, &error))
        #expect(error?.underlyingError == .tls(errSSLBadCert))
        #expect(!SecTrustEvaluateWithError(trust, nil))
        #expect(SecTrustGetCertificateCount(trust) == 2)
        #expect(SecTrustGetCertificateAtIndex(trust, 1) == Self.issuer)
        #expect(SecTrustGetCertificateAtIndex(trust, 2) == nil)
        #expect(SecTrustGetCertificateAtIndex(trust, -1) == nil)
        #expect(trust.values.policies == [policy])
    }

    @Test("The engine's verdict is returned, and clears an old error")
    func verdict() {
        let trust = SecTrust(.init(certificates: [Self.leaf], policies: []))
        trust.update { $0.evaluate = { $0.values.anchors == [Self.issuer] ? nil : .tls(errSSLXCertChainInvalid) } }
        var error: CFError?
        #expect(!SecTrustEvaluateWithError(trust, &error))
        #expect(error?.underlyingError == .tls(errSSLXCertChainInvalid))
        #expect(error.map(CFErrorGetCode) == Int(errSecNotTrusted))
        #expect(error.map(CFErrorGetDomain) == "NSOSStatusErrorDomain")
        #expect(SecTrustSetAnchorCertificates(trust, [Self.issuer] as CFArray) == errSecSuccess)
        #expect(!trust.values.trustsSystemAnchors)
        #expect(SecTrustEvaluateWithError(trust, &error))
        #expect(error == nil)
        #expect(SecTrustSetAnchorCertificates(trust, [1]) == errSecParam)
        #expect(SecTrustSetAnchorCertificatesOnly(trust, false) == errSecSuccess)
        #expect(trust.values.trustsSystemAnchors)
    }

    @Test("Invalid archives contain no identity")
    func importing() {
        var items: CFArray? = [1]
        let options = [kSecImportExportPassphrase as String: "secret"] as CFDictionary
        #expect(SecPKCS12Import(Data() as CFData, options, &items) == errSecDecode)
        #expect(items == nil)
    }
}
