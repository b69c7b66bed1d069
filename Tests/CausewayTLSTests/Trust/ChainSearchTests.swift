import CausewayTypes
import Testing

@testable import CausewayTLS

@Suite("Search for a certificate chain")
struct ChainSearchTests {
    private func rule(_ certificates: [Certificate], _ settings: TrustSettings) -> TrustFailure.Rule? {
        let trust = PeerTrust(
            certificates: certificates, role: .server, reference: ReferenceName("server.test"), settings: settings)
        do throws(TrustFailure) {
            _ = try trust.evaluate()
            return nil
        } catch {
            return error.rule
        }
    }

    // MARK: Anchors

    @Test(
        "An anchor is trusted even if extensions are missing",
        arguments: [[15], [14], [35], [14, 15, 35], [15, 19]] as [Set<UInt32>])
    func plainAnchor(_ omitted: Set<UInt32>) throws {
        // A certificate from `openssl req -x509` has no key usage. An anchor needs a key usage only if it has no basic
        // constraints.
        let root = Authority("Plain") { $0.omittedExtensions = omitted }
        let canSign = !omitted.contains(19)
        #expect(rule(try root.issue().certificates, .anchored(root)) == (canSign ? nil : .notAnAuthority))
    }

    // RFC 5280 §4.2.1.1, §4.2.1.2, §4.2.1.3.
    @Test("An authority that only the peer sent must obey the profile", arguments: [14, 15, 35] as [UInt32])
    func intermediates(_ omitted: UInt32) throws {
        let middle = Authority("Middle", by: .shared) { $0.omittedExtensions = [omitted] }
        #expect(rule(try middle.issue().certificates, .anchored(.shared)) == .malformed)
        let unnamed = try Authority.shared.issue { $0.omittedExtensions = [35] }
        #expect(rule(unnamed.certificates, .anchored(.shared)) == .malformed)
    }

    @Test("A device whose own certificate is trusted is not an authority for others")
    func deviceAsAuthority() throws {
        let device = Authority("Device") {
            $0.isAuthority = false
            $0.names = [.name("server.test")]
        }
        #expect(rule([device.certificate], .anchored(device)) == nil)
        #expect(rule(try device.issue().certificates, .anchored(device)) == .notAnAuthority)
    }

    // Checks of anchors: RFC 5280 §6.1.1.
    @Test("An anchor must be valid at the time, have a strong key, and obey its name constraints")
    func anchorsOwnWord() throws {
        let expired = Authority("Old Root") { $0.notAfter = Authority.now - 1 }
        #expect(rule(try expired.issue().certificates, .anchored(expired)) == .expired)
        let weak = Authority("Weak Root") { $0.keyKind = .rsa(bits: 1_024) }
        #expect(rule(try weak.issue().certificates, .anchored(weak)) == .weakKey)
        let sha1 = Authority("Old Digest") {
            $0.usesSHA1 = true; $0.keyKind = .rsa(bits: 2_048)
        }
        // The anchor's signature on itself uses SHA-1, but it is not checked. The certificate that the anchor issues
        // here is signed with SHA-256.
        #expect(rule(try sha1.issue().certificates, .anchored(sha1)) == nil)
        let narrow = Authority("Narrow Root") { $0.permittedNames = ["other.test"] }
        #expect(rule(try narrow.issue().certificates, .anchored(narrow)) == .nameConstraint)
    }

    // MARK: Paths

    @Test("Certificates may arrive in any order, with unrelated ones between, and repeated")
    func anyOrder() throws {
        let upper = Authority("Upper", by: .shared)
        let lower = Authority("Lower", by: upper)
        let leaf = try lower.issue().certificates[0]
        let stranger = Authority("Unknown").certificate
        for others in [
            [lower.certificate, upper.certificate], [upper.certificate, lower.certificate],
            [stranger, upper.certificate, upper.certificate, stranger, lower.certificate, leaf],
            [upper.certificate, lower.certificate, Authority.shared.certificate],
        ] {
            #expect(rule([leaf] + others, .anchored(.shared)) == nil)
        }
        #expect(rule([leaf, upper.certificate], .anchored(.shared)) == .unknownIssuer)
        #expect(rule([leaf, lower.certificate], .anchored(.shared)) == .unknownIssuer)
    }

    @Test("If one certificate of an authority does not work, another may")
    func crossSigned() throws {
        let other = Authority("Other Root")
        let middle = Authority("Middle", by: other)
        let leaf = try middle.issue().certificates[0]
        func cross(_ adjust: (inout CertificateTemplate) -> Void = { _ in }) throws -> Certificate {
            var template = CertificateTemplate(
                subject: "Middle", notBefore: Authority.now - 9, notAfter: Authority.now + 9)
            template.isAuthority = true
            adjust(&template)
            return try template.issue(by: Authority.shared.identity, for: middle.identity).certificates[0]
        }
        let good = try cross()
        let expired = try cross { $0.notAfter = Authority.now - 1 }
        let narrow = try cross { $0.permittedNames = ["elsewhere.test"] }
        #expect(rule([leaf, middle.certificate], .anchored(.shared)) == .unknownIssuer)
        #expect(rule([leaf, middle.certificate, good], .anchored(.shared)) == nil)
        #expect(rule([leaf, good, middle.certificate], .anchored(.shared, other)) == nil)
        #expect(rule([leaf, expired, narrow, good], .anchored(.shared)) == nil)
        #expect(rule([leaf, expired, middle.certificate], .anchored(.shared)) == .expired)
        #expect(rule([leaf, expired, middle.certificate], .anchored(.shared, other)) == nil)
        #expect(rule([leaf, narrow], .anchored(.shared)) == .nameConstraint)
    }

    @Test("An expired anchor does not hide its replacement")
    func renewedRoot() throws {
        let old = Authority("Renewed Root") { $0.notAfter = Authority.now - 1 }
        var template = CertificateTemplate(
            subject: "Renewed Root", notBefore: Authority.now - 9, notAfter: Authority.now + 9)
        template.isAuthority = true
        let new = try template.issue(for: old.identity).certificates[0]
        let leaf = try old.issue().certificates[0]
        var settings = TrustSettings.anchored(old)
        #expect(rule([leaf], settings) == .expired)
        settings.anchors.append(new)
        #expect(rule([leaf], settings) == nil)
    }

    // MARK: Hostile

    @Test("Authorities that sign each other lead to no anchor, and the search ends soon")
    func loop() throws {
        let first = Authority("First")
        let second = Authority("Second", by: first)
        var template = CertificateTemplate(subject: "First", notBefore: Authority.now - 9, notAfter: Authority.now + 9)
        template.isAuthority = true
        let closing = try template.issue(by: second.identity, for: first.identity).certificates[0]
        let leaf = try first.issue().certificates[0]
        #expect(rule([leaf, closing, second.certificate], .anchored(.shared)) == .unknownIssuer)
    }

    @Test("A tangle of authorities with one name needs a bounded number of signature checks")
    func tangle() throws {
        let names = (0..<7).map { _ in Authority("Same") }
        var certificates: [Certificate] = []
        for holder in names {
            for issuer in names.prefix(2) {
                var template = CertificateTemplate(
                    subject: "Same", notBefore: Authority.now - 9, notAfter: Authority.now + 9)
                template.isAuthority = true
                certificates.append(try template.issue(by: issuer.identity, for: holder.identity).certificates[0])
            }
        }
        let leaf = try names[0].issue().certificates[0]
        let failure = rule([leaf] + certificates, .anchored(.shared))
        #expect(failure == .tooComplex || failure == .unknownIssuer || failure == .badSignature)
    }

    @Test("Eight intermediate authorities are allowed, but not nine")
    func length() throws {
        func chain(_ count: Int) throws -> [Certificate] {
            var authority = Authority.shared
            var certificates: [Certificate] = []
            for number in 0..<count {
                authority = Authority("Level \(number)", by: authority)
                certificates.insert(authority.certificate, at: 0)
            }
            return [try authority.issue().certificates[0]] + certificates
        }
        #expect(rule(try chain(8), .anchored(.shared)) == nil)
        #expect(rule(try chain(9), .anchored(.shared)) == .chainTooLong)
    }

    @Test("A certificate with one changed byte never traps, and is never trusted", arguments: 0..<40)
    func damage(_ seed: Int) throws {
        let original = try Identities.server.get().certificates[0].der
        let accepted = rule([try Certificate(der: original)], .anchored(.shared))
        #expect(accepted == nil)
        for position in stride(from: seed, to: original.count, by: 40) {
            for value in [0, 0x7f, 0x80, 0xff, original[position] ^ 1] where value != original[position] {
                var der = original
                der[position] = value
                _ = try? CertificateFields(der)
                _ = try? CertificateFields(Array(der.prefix(position)))
                guard let certificate = try? Certificate(der: der) else { continue }
                #expect(rule([certificate], .anchored(.shared)) != nil, "byte \(position) as \(value)")
            }
        }
    }

    // MARK: One certificate

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let rule: TrustFailure.Rule?
        let adjust: @Sendable (inout CertificateTemplate) -> Void
    }

    private static func usage(_ bits: UInt8) -> [UInt8] {
        CertificateTemplate.certificateExtension(
            DERWriter.identifier(2, 5, 29, 15), isCritical: true, DERWriter.bits([bits]))
    }

    private static func purposes(_ numbers: UInt32...) -> [UInt8] {
        let list = numbers.flatMap { DERWriter.identifier(1, 3, 6, 1, 5, 5, 7, 3, $0) }
        return CertificateTemplate.certificateExtension(DERWriter.identifier(2, 5, 29, 37), DERWriter.value(0x30, list))
    }

    static let rows = [
        Row(testDescription: "no key usage", rule: nil) { $0.omittedExtensions = [15] },
        Row(testDescription: "key for encipherment only", rule: .wrongPurpose) {
            $0.omittedExtensions = [15]
            $0.extraExtensions = [usage(0x20)]
        },
        Row(testDescription: "key for certificate signing", rule: .malformed) {
            $0.omittedExtensions = [15]
            $0.extraExtensions = [usage(0x84)]
        },
        Row(testDescription: "key without any usage", rule: .malformed) {
            $0.omittedExtensions = [15]
            $0.extraExtensions = [usage(0)]
        },
        Row(testDescription: "for mail", rule: .wrongPurpose) {
            $0.usages = []
            $0.extraExtensions = [purposes(4)]
        },
        Row(testDescription: "for mail and servers", rule: nil) {
            $0.usages = []
            $0.extraExtensions = [purposes(4, 1)]
        },
        Row(testDescription: "for anything", rule: .wrongPurpose) {
            $0.usages = []
            $0.extraExtensions = [
                CertificateTemplate.certificateExtension(
                    DERWriter.identifier(2, 5, 29, 37), DERWriter.sequence(DERWriter.identifier(2, 5, 29, 37, 0)))
            ]
        },
        Row(testDescription: "a repeated extension", rule: .malformed) { $0.extraExtensions = [purposes(1)] },
        Row(testDescription: "alternative names without a name", rule: .malformed) {
            $0.names = []
            $0.extraExtensions = [
                CertificateTemplate.certificateExtension(DERWriter.identifier(2, 5, 29, 17), DERWriter.sequence())
            ]
        },
        Row(testDescription: "name constraints", rule: .malformed) { $0.permittedNames = ["server.test"] },
        Row(testDescription: "unknown extension that is not critical", rule: nil) {
            $0.extraExtensions = [
                CertificateTemplate.certificateExtension(DERWriter.identifier(1, 2, 3, 4), DERWriter.text("?"))
            ]
        },
    ]

    // RFC 5280 §4.2.1.3, §4.2.1.12.
    @Test("The peer's own certificate", arguments: rows)
    func leaf(_ row: Row) throws {
        #expect(rule(try Authority.shared.issue(adjust: row.adjust).certificates, .anchored(.shared)) == row.rule)
    }

    @Test("An authority's purposes apply to the certificates it signs, and any purpose includes all")
    func nestedPurposes() throws {
        func rule(_ content: [UInt8]) throws -> TrustFailure.Rule? {
            let middle = Authority("Middle", by: .shared) {
                $0.extraExtensions = [
                    CertificateTemplate.certificateExtension(DERWriter.identifier(2, 5, 29, 37), content)
                ]
            }
            return self.rule(try middle.issue().certificates, .anchored(.shared))
        }
        #expect(try rule(DERWriter.sequence(DERWriter.identifier(1, 3, 6, 1, 5, 5, 7, 3, 1))) == nil)
        #expect(try rule(DERWriter.sequence(DERWriter.identifier(2, 5, 29, 37, 0))) == nil)
        #expect(try rule(DERWriter.sequence(DERWriter.identifier(1, 3, 6, 1, 5, 5, 7, 3, 2))) == .wrongPurpose)
    }
}
