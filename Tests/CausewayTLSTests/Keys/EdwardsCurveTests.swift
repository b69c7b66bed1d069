import Testing

@testable import CausewayTLS

@Suite("Edwards curve keys")
struct EdwardsCurveTests {
    /// Returns an identity with a new key. The arguments use OpenSSL's names for the key type and its parameter.
    private static func identity(
        _ type: String, parameter: String? = nil, _ value: String = ""
    ) throws -> TLSIdentity {
        let key = PrivateKey(try PrivateKey.make(type, parameter: parameter, value))
        let certificate = try CertificateTemplate.authority("Key").certify(
            key.publicKeyInfo, by: Authority.shared.identity)
        return try TLSIdentity(derCertificates: [certificate.der], key: key)
    }

    @Test("Signatures verify, and those of other messages do not", arguments: ["ED25519", "ED448"])
    func signatures(_ type: String) throws {
        let identity = try Self.identity(type)
        let signature = try identity.sign([1, 2, 3])
        #expect(identity.certificates[0].hasSigned([1, 2, 3], signature: signature))
        #expect(!identity.certificates[0].hasSigned([1, 2], signature: signature))
        #expect(!Authority.shared.certificate.hasSigned([1, 2, 3], signature: signature))
    }

    @Test("An authority issues certificates that validate", arguments: ["ED25519", "ED448"])
    func authority(_ type: String) throws {
        let root = try CertificateTemplate.authority("Edwards Root").issue(for: Self.identity(type))
        #expect(root.certificates[0].signatureAlgorithm == type)
        var template = CertificateTemplate(subject: "leaf", notBefore: Authority.now - 9, notAfter: Authority.now + 9)
        template.names = [.name("server.test")]
        let leaf = try template.issue(by: root)
        var settings = TrustSettings()
        settings.anchors = root.certificates
        settings.includesSystemAnchors = false
        settings.time = Authority.now
        let trust = PeerTrust(
            certificates: leaf.certificates, role: .server, reference: ReferenceName("server.test"), settings: settings)
        #expect(try trust.evaluate() == leaf.certificates + root.certificates)
    }

    @Test("A key without a known signature algorithm issues no certificate")
    func otherKey() throws {
        let identity = try Self.identity("RSA-PSS", parameter: "rsa_keygen_bits", "1024")
        #expect(throws: TLSFailure.self) { try CertificateTemplate.authority("PSS Root").issue(for: identity) }
    }
}
