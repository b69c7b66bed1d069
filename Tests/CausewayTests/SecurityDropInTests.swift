// Import these modules besides Foundation, as programs that use Security do.
import Causeway
import Security
import Testing

@Suite("The drop-in module Security")
struct SecurityDropInTests {
    @Test("Random bytes fill exactly the given memory")
    func random() {
        var bytes = [UInt8](repeating: 0, count: 66)
        let status = bytes.withUnsafeMutableBytes { SecRandomCopyBytes(kSecRandomDefault, 64, $0.baseAddress!) }
        #expect(status == errSecSuccess)
        #expect(bytes.suffix(2) == [0, 0])
        // 64 random bytes contain fewer than 17 different values less than once in 10^30 runs.
        #expect(Set(bytes.prefix(64)).count > 16)
        #expect(bytes.withUnsafeMutableBytes { SecRandomCopyBytes(nil, -1, $0.baseAddress!) } == errSecParam)
    }

    @Test("The system's authorities are certificates, and a trust uses the authorities that were set")
    func anchors() throws {
        var anchors: CFArray?
        let status = SecTrustCopyAnchorCertificates(&anchors)
        let certificates = anchors ?? []
        #expect(certificates.allSatisfy { $0 is SecCertificate })
        #expect(status == (certificates.isEmpty ? errSecItemNotFound : errSecSuccess))
        let certificate = try #require(SecCertificateCreateWithData(nil, CFData([0x30, 0])))
        var trust: SecTrust?
        SecTrustCreateWithCertificates(certificate, SecPolicyCreateBasicX509(), &trust)
        let made = try #require(trust)
        #expect(SecTrustCopyCustomAnchorCertificates(made, &anchors) == errSecSuccess && anchors == nil)
        SecTrustSetAnchorCertificates(made, [certificate])
        #expect(SecTrustCopyCustomAnchorCertificates(made, &anchors) == errSecSuccess)
        #expect(anchors as? [SecCertificate] == [certificate])
    }

    @Test("The names for verify blocks are visible")
    func names() {
        let options = NWProtocolTLS.Options()
        sec_protocol_options_set_min_tls_protocol_version(options.securityProtocolOptions, .TLSv12)
        let certificate: SecCertificate? = nil
        let trust: SecTrust? = nil
        #expect(certificate == nil && trust == nil)
    }

    @Test("A program makes a key and signs with it")
    func keys() throws {
        let attributes: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecPrivateKeyAttrs: [kSecAttrIsPermanent: false],
        ]
        var error: Unmanaged<CFError>?
        let key = try #require(SecKeyCreateRandomKey(attributes as CFDictionary, &error))
        let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
        let message = CFData("message".utf8)
        let signature = try #require(SecKeyCreateSignature(key, algorithm, message, &error))
        let verifier = try #require(SecKeyCopyPublicKey(key))
        #expect(SecKeyIsAlgorithmSupported(verifier, .verify, algorithm))
        #expect(SecKeyVerifySignature(verifier, algorithm, message, signature, &error) && error == nil)
        let certificate = try #require(SecCertificateCreateWithData(nil, CFData([0x30, 0])))
        #expect(SecIdentityCreate(kCFAllocatorDefault, certificate, key) == nil)
        #expect(SecCertificateCopyValues(certificate, [kSecOIDX509V1ValidityNotAfter] as CFArray, nil) == nil)
    }
}
