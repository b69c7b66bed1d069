import CausewayTLS
import CausewayTypes
import Testing

@Suite("Judging certificates")
struct PeerTrustTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var host: NWEndpoint.Host = "server.test"
        var names: [SubjectAlternativeName] = [.name("server.test")]
        /// The violated rule; `nil` if the certificate is valid.
        let rule: TrustFailure.Rule?
        var status: OSStatus = errSSLXCertChainInvalid
        let adjust: @Sendable (inout CertificateTemplate) -> Void
    }

    static let unknownCritical = CertificateTemplate.certificateExtension(
        DERWriter.identifier(1, 2, 3, 4), isCritical: true, DERWriter.text("?"))

    /// An extended key usage extension with an obsolete purpose. The library still accepts this purpose for servers.
    static let serverGatedOnly = CertificateTemplate.certificateExtension(
        DERWriter.identifier(2, 5, 29, 37), DERWriter.sequence(DERWriter.identifier(1, 3, 6, 1, 4, 1, 311, 10, 3, 3)))

    static let rows = [
        Row(testDescription: "good", rule: nil) { _ in },
        Row(testDescription: "good, no purposes", rule: nil) { $0.usages = [] },
        Row(testDescription: "good, Ed25519", rule: nil) { $0.keyKind = .ed25519 },
        Row(testDescription: "good, RSA", rule: nil) { $0.keyKind = .rsa(bits: 2_048) },
        Row(testDescription: "good, no subject", rule: nil) { $0.subject = "" },
        Row(testDescription: "good, address", host: "127.0.0.1", names: [.address([127, 0, 0, 1])], rule: nil) { _ in },
        Row(
            testDescription: "address for a name", names: [.address([127, 0, 0, 1])], rule: .nameMismatch,
            status: errSSLHostNameMismatch
        ) { _ in },
        Row(testDescription: "wrong name", host: "other.test", rule: .nameMismatch, status: errSSLHostNameMismatch) {
            _ in
        },
        Row(
            testDescription: "no alternative names, correct common name", names: [], rule: .noAlternativeName,
            status: errSSLHostNameMismatch
        ) { $0.subject = "server.test" },
        Row(testDescription: "expired", rule: .expired, status: errSSLCertExpired) { $0.notAfter = Authority.now - 1 },
        Row(testDescription: "not yet", rule: .notYetValid, status: errSSLCertNotYetValid) {
            $0.notBefore = Authority.now + 1
        },
        Row(testDescription: "for clients", rule: .wrongPurpose) { $0.usages = [.client] },
        Row(testDescription: "for server-gated cryptography", rule: .wrongPurpose) {
            $0.usages = []
            $0.extraExtensions = [serverGatedOnly]
        },
        Row(testDescription: "an authority", rule: .authorityAsLeaf) { $0.isAuthority = true },
        Row(testDescription: "RSA with 1,024 bits", rule: .weakKey, status: errSSLATSMinimumKeySizeViolation) {
            $0.keyKind = .rsa(bits: 1_024)
        },
        Row(testDescription: "SHA-1", rule: .weakSignature, status: errSSLATSCertificateHashAlgorithmViolation) {
            $0.usesSHA1 = true
        },
        Row(testDescription: "unknown critical extension", rule: .criticalExtension) {
            $0.extraExtensions = [unknownCritical]
        },
    ]

    private func evaluate(
        _ chain: [Certificate], host: NWEndpoint.Host = "server.test", _ settings: TrustSettings = .anchored(.shared)
    ) -> Result<[Certificate], TrustFailure> {
        let trust = PeerTrust(certificates: chain, role: .server, reference: ReferenceName(host), settings: settings)
        do throws(TrustFailure) { return .success(try trust.evaluate()) } catch { return .failure(error) }
    }

    private func rule(_ result: Result<[Certificate], TrustFailure>) -> TrustFailure.Rule? {
        if case .failure(let failure) = result { failure.rule } else { nil }
    }

    // RFC 5280 §4.1.2.5, §4.2, §4.2.1.9, §4.2.1.12, §6.1.3; RFC 8446 §C.2.
    @Test("One certificate below a trusted authority", arguments: rows)
    func leaf(_ row: Row) throws {
        let identity = try Authority.shared.issue(row.names, adjust: row.adjust)
        let result = evaluate(identity.certificates, host: row.host)
        #expect(rule(result) == row.rule, "\(result)")
        if case .failure(let failure) = result {
            #expect(failure.status == row.status)
            #expect(failure.depth == 0 && failure.certificate != nil)
        } else {
            #expect(try result.get() == [identity.certificates[0], Authority.shared.certificate])
        }
    }

    @Test("No authority is trusted by default")
    func unknownRoot() throws {
        let leaf = try Identities.server.get().certificates
        var settings = TrustSettings.anchored()
        #expect(rule(evaluate(leaf, settings)) == .unknownIssuer)
        settings.anchors = [Authority("Another Root").certificate]
        #expect(rule(evaluate(leaf, settings)) == .unknownIssuer)
        // This authority has the same name as the certificate's issuer, but another key.
        settings.anchors = [Authority("Test Root").certificate]
        #expect(rule(evaluate(leaf, settings)) != nil)
        #expect(rule(evaluate([], settings)) == .noCertificate)
        #expect(rule(evaluate(leaf, TrustSettings())) == .unknownIssuer)
    }

    @Test("A self-signed certificate is trusted as an anchor, and allowed as an exception")
    func selfSigned() throws {
        var template = CertificateTemplate(
            subject: "device", notBefore: Authority.now - 9, notAfter: Authority.now + 9)
        template.names = [.name("server.test")]
        let certificate = try template.issue().certificates[0]
        var settings = TrustSettings.anchored(.shared)
        #expect(rule(evaluate([certificate], settings)) == .selfSigned)
        settings.anchors = [certificate]
        #expect(rule(evaluate([certificate], settings)) == nil)
        #expect(rule(evaluate([certificate], host: "other.test", settings)) == .nameMismatch)

        settings.anchors = []
        let other = try #require(ReferenceName("other.test"))
        settings.exceptions = [.init(host: other, fingerprint: certificate.fingerprint)]
        #expect(rule(evaluate([certificate], host: "other.test", settings)) == nil)
        #expect(rule(evaluate([certificate], settings)) == .selfSigned)
        let different = try template.issue().certificates[0]
        #expect(rule(evaluate([different], host: "other.test", settings)) == .selfSigned)
    }

    // RFC 5280 §6.1.4.
    @Test("Intermediate authorities")
    func intermediates() throws {
        let middle = Authority("Middle", by: .shared)
        let leaf = try middle.issue()
        #expect(leaf.certificates.count == 2)
        #expect(rule(evaluate(leaf.certificates)) == nil)
        #expect(rule(evaluate([leaf.certificates[0]])) == .unknownIssuer)
        #expect(rule(evaluate([leaf.certificates[0], leaf.certificates[1], leaf.certificates[1]])) == nil)
        // A program may trust an intermediate certificate without its root.
        #expect(rule(evaluate([leaf.certificates[0]], .anchored(middle))) == nil)

        let expired = Authority("Old", by: .shared) { $0.notAfter = Authority.now - 1 }
        guard case .failure(let failure) = evaluate(try expired.issue().certificates) else {
            Issue.record("an expired authority was accepted")
            return
        }
        #expect(failure.rule == .expired && failure.depth == 1 && failure.certificate == "CN=Old")

        let notAnAuthority = Authority("Impostor", by: .shared) { $0.isAuthority = false }
        #expect([.notAnAuthority, .wrongPurpose].contains(rule(evaluate(try notAnAuthority.issue().certificates))))
        let short = Authority("Short", by: .shared) { $0.pathLength = 0 }
        #expect(rule(evaluate(try short.issue().certificates)) == nil)
        #expect(rule(evaluate(try Authority("Below", by: short).issue().certificates)) == .chainTooLong)
        let limited = Authority("Limited", by: .shared) { $0.permittedNames = ["allowed.test"] }
        #expect(rule(evaluate(try limited.issue().certificates)) == .nameConstraint)
        let allowed = try limited.issue([.name("a.allowed.test")]).certificates
        #expect(rule(evaluate(allowed, host: "a.allowed.test")) == nil)
        let sha1 = Authority("Weak", by: .shared) { $0.usesSHA1 = true }
        #expect(rule(evaluate(try sha1.issue().certificates)) == .weakSignature)
    }

    @Test("A signature by another key")
    func forged() throws {
        let impostor = Authority("Test Root")
        let leaf = try impostor.issue().certificates[0]
        #expect(rule(evaluate([leaf])) != nil)
    }

    @Test("Too many certificates are refused before any work")
    func flood() throws {
        let leaf = try Identities.server.get().certificates[0]
        #expect(rule(evaluate(Array(repeating: leaf, count: 16))) == nil)
        #expect(rule(evaluate(Array(repeating: leaf, count: 65))) == .tooComplex)
    }

    @Test("Pins are checked after everything else")
    func pins() throws {
        let leaf = try Identities.server.get().certificates[0]
        var settings = TrustSettings.anchored(.shared)
        settings.pins = [leaf.publicKeyPin]
        #expect(rule(evaluate([leaf], settings)) == nil)
        settings.pins = [Authority.shared.certificate.publicKeyPin, [1, 2, 3]]
        #expect(rule(evaluate([leaf], settings)) == nil)
        settings.pins = [[1, 2, 3]]
        #expect(rule(evaluate([leaf], settings)) == .pinMismatch)
        settings.pins = [leaf.publicKeyPin]
        #expect(rule(evaluate([leaf], host: "other.test", settings)) == .nameMismatch)
    }

    @Test("Client certificates need a purpose and no name")
    func clients() throws {
        func rule(_ usages: [CertificateTemplate.Usage]) throws -> TrustFailure.Rule? {
            let leaf = try Authority.shared.issue([]) { $0.usages = usages }
            let trust = PeerTrust(
                certificates: leaf.certificates, role: .client, reference: nil, settings: .anchored(.shared))
            return self.rule(Result { () throws(TrustFailure) in try trust.evaluate() })
        }
        #expect(try rule([.client]) == nil)
        #expect(try rule([]) == nil)
        #expect(try rule([.server]) == .wrongPurpose)
    }

    @Test("Every rule states a remedy", arguments: TrustFailure.Rule.allCases)
    func texts(_ rule: TrustFailure.Rule) throws {
        let leaf = try Authority.shared.issue { $0.notAfter = Authority.now - 1 }
        guard case .failure(let failure) = evaluate(leaf.certificates) else { return }
        #expect(failure.description.contains("CN=leaf") && failure.description.contains(failure.advice))
        #expect(!rule.rawValue.isEmpty)
    }
}
