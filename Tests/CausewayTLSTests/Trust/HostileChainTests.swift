import CausewayTypes
import Testing

@testable import CausewayTLS

@Suite("Chains that are designed to cost time, and large valid ones")
struct HostileChainTests {
    private func failure(_ certificates: [Certificate], _ settings: TrustSettings = .anchored(.shared)) -> TrustFailure?
    {
        let trust = PeerTrust(
            certificates: certificates, role: .server, reference: ReferenceName("server.test"), settings: settings)
        do throws(TrustFailure) {
            _ = try trust.evaluate()
            return nil
        } catch {
            return error
        }
    }

    private let same = Authority("Same")

    /// Returns a chain of a leaf and several authorities. The authorities have the same name, and their keys are
    /// `keys`.
    private func chain(_ keys: [[UInt8]]) throws -> [Certificate] {
        let leaf = try same.issue().certificates[0]
        let authorities = try keys.map { try CertificateTemplate.authority("Same").certify($0, by: same.identity) }
        return [leaf] + authorities
    }

    @Test("RSA keys with exponents of 3,070 bits are refused before any signature check")
    func longExponents() throws {
        let refused = failure(try chain((0..<11).map { HostileKeys.longExponent($0) }))
        // The signatures in this chain are wrong too, but the failure reports the key. This shows that the keys are
        // rejected before any signature is checked.
        #expect(refused?.rule == .weakKey && refused?.detail?.contains("exponent") == true)
    }

    @Test("Slow keys that are allowed use up the budget for signature checks")
    func slowKeys() throws {
        let keys = (0..<40).map { HostileKeys.rsa(modulusBits: 8_192, exponent: [255, 255, 255, 255], seed: $0) }
        #expect(failure(try chain(keys))?.rule == .tooComplex)
        let fast = (0..<40).map { HostileKeys.rsa(modulusBits: 2_048, exponent: [1, 0, 1], seed: $0) }
        #expect(failure(try chain(fast))?.rule == .unknownIssuer)
    }

    @Test("Sixty-four certificates are accepted, but not sixty-five")
    func count() throws {
        let unknown = Authority("Unknown")
        let leaf = try Authority.shared.issue().certificates[0]
        let others = try (0..<64).map { _ in
            try CertificateTemplate.authority("Other").issue(by: unknown.identity, for: unknown.identity)
                .certificates[0]
        }
        #expect(failure([leaf] + others.prefix(63)) == nil)
        #expect(failure([leaf] + others)?.rule == .tooComplex)
    }

    /// The cross-signatures around a bridge (RFC 4158 §2.4): four authorities with their own hierarchies, and the bridge.
    private static let bridge: [(String, String)] = {
        let trees = [
            "W": "F G", "X": "J L", "Y": "A C", "Z": "O P", "F": "H G", "G": "F I", "H": "I", "I": "H", "J": "K",
        ]
        let more = ["L": "N M", "A": "B C", "C": "B A", "B": "E D", "O": "R Q", "R": "S", "P": "S"]
        var edges: [(String, String)] = []
        for (issuer, holders) in trees.merging(more, uniquingKeysWith: { first, _ in first }) {
            edges += holders.split(separator: " ").map { (issuer, String($0)) }
        }
        for name in ["W", "X", "Y", "Z"] { edges += [(name, "Bridge"), ("Bridge", name)] }
        return edges.sorted { $0 < $1 }
    }()

    @Test(
        "Thirty-six certificates of a bridge and its authorities lead to every reachable root",
        arguments: ["W", "X", "Y", "Z", "Bridge", "A", "P", "L"])
    func bridges(_ root: String) throws {
        var holders: [String: Authority] = [:]
        for name in Self.bridge.flatMap({ [$0.0, $0.1] }) where holders[name] == nil { holders[name] = Authority(name) }
        var certificates: [Certificate] = []
        for (issuer, holder) in Self.bridge {
            let template = CertificateTemplate.authority(holder)
            certificates.append(
                try template.issue(by: holders[issuer]?.identity, for: holders[holder]?.identity).certificates[0])
        }
        let leaf = try #require(holders["N"]).issue().certificates[0]
        #expect(certificates.count == 35)
        let anchor = try #require(holders[root])
        let failure = failure([leaf] + certificates, .anchored(anchor))
        // The certificates A and P are in other hierarchies. No path leads from the leaf to them.
        #expect(["A", "P"].contains(root) ? failure != nil : failure == nil, "\(String(describing: failure))")
        #expect(self.failure([leaf] + certificates.reversed(), .anchored(anchor))?.rule == failure?.rule)
    }

    // MARK: Before the library decodes a certificate

    /// Returns a Certificate message without its header.
    private func message(_ certificates: [[UInt8]], hasContext: Bool) -> [UInt8] {
        func length(_ count: Int) -> [UInt8] {
            [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255)]
        }
        var list: [UInt8] = []
        for certificate in certificates {
            list += length(certificate.count) + certificate
            if hasContext { list += [0, 0] }
        }
        let context: [UInt8] = hasContext ? [0] : []
        return context + length(list.count) + list
    }

    @Test(
        "Too many certificates, or a curve with explicit parameters, are detected in the message itself",
        arguments: [true, false])
    func messages(_ hasContext: Bool) throws {
        func rule(_ certificates: [[UInt8]]) -> TrustFailure.Rule? {
            message(certificates, hasContext: hasContext).withUnsafeBytes {
                CertificateMessage.objection(to: $0, hasContext: hasContext)?.rule
            }
        }
        let good = try Identities.server.get().certificates[0].der
        #expect(rule(Array(repeating: good, count: 64)) == nil && rule([]) == nil)
        #expect(rule(Array(repeating: good, count: 65)) == .tooComplex)
        #expect(rule(Array(repeating: [], count: 65)) == .tooComplex)
        #expect(rule([good, good, HostileKeys.writtenOutCurve()]) == .weakKey)
        let whole = message([good, good], hasContext: hasContext)
        for count in 0..<whole.count {
            let cut = Array(whole.prefix(count)).withUnsafeBytes {
                CertificateMessage.objection(to: $0, hasContext: hasContext)
            }
            #expect(cut == nil)
        }
    }

    @Test("A peer's explicit curve is refused before it is decoded", arguments: [TLSVersion.tls12, .tls13, .dtls12])
    func handshake(_ version: TLSVersion) throws {
        let identity = try Authority.shared.issue()
        var certificates = identity.certificates
        let template = CertificateTemplate.authority("Curve")
        // A certificate that OpenSSL can load and send.
        certificates.append(try template.certify(HostileKeys.writtenOutP256, by: Authority.shared.identity))
        let hostile = try TLSIdentity(certificates: certificates, key: identity.key)
        let usesDatagrams = version == .dtls12
        let pair = try EnginePair(
            .client {
                $0.usesDatagrams = usesDatagrams
                $0.maximumVersion = version
                $0.identity = hostile
            },
            .server {
                $0.usesDatagrams = usesDatagrams
                $0.peerAuthentication = .required
            })
        pair.run()
        guard case .untrusted(let failure) = pair.serverFailure?.code else {
            Issue.record("accepted: \(pair.serverProgress)")
            return
        }
        #expect(failure.rule == .weakKey)
    }

    // MARK: The profile

    private static func policyConstraints(isCritical: Bool, _ number: UInt8) -> [UInt8] {
        CertificateTemplate.certificateExtension(
            DERWriter.identifier(2, 5, 29, 36), isCritical: isCritical,
            DERWriter.sequence(DERWriter.value(0x80, [number])))
    }

    // Policy constraints: RFC 5280 §4.2.1.11, §6.1.5.
    @Test("Policy constraints of an intermediate are applied, and must be critical", arguments: [0, 3] as [UInt8])
    func policies(_ number: UInt8) throws {
        func rule(isCritical: Bool) throws -> TrustFailure.Rule? {
            let middle = Authority("Middle", by: .shared) {
                $0.extraExtensions = [Self.policyConstraints(isCritical: isCritical, number)]
            }
            return failure(try middle.issue().certificates)?.rule
        }
        #expect(try rule(isCritical: true) == (number == 0 ? .policy : nil))
        #expect(try rule(isCritical: false) == .malformed)
    }

    @Test(
        "Authority information access is decoded strictly",
        arguments: [
            [], Array("malformed".utf8), DERWriter.sequence(), DERWriter.sequence(DERWriter.sequence()),
            DERWriter.sequence(DERWriter.sequence(DERWriter.identifier(1, 3, 6), DERWriter.text("x"))),
        ] as [[UInt8]])
    func informationAccess(_ content: [UInt8]) throws {
        func rule(_ content: [UInt8]) throws -> TrustFailure.Rule? {
            let identifier = DERWriter.identifier(1, 3, 6, 1, 5, 5, 7, 1, 1)
            let leaf = try Authority.shared.issue {
                $0.extraExtensions = [CertificateTemplate.certificateExtension(identifier, content)]
            }
            return failure(leaf.certificates)?.rule
        }
        #expect(try rule(content) == .malformed)
        let location = DERWriter.value(0x86, Array("http://a.test/ca.der".utf8))
        let method = DERWriter.identifier(1, 3, 6, 1, 5, 5, 7, 48, 2)
        #expect(try rule(DERWriter.sequence(DERWriter.sequence(method, location))) == nil)
    }

    @Test("A constraint on DNS names that begins with a dot disables an authority")
    func leadingDot() throws {
        let middle = Authority("Middle", by: .shared) { $0.permittedNames = [".test"] }
        #expect(failure(try middle.issue().certificates)?.rule == .malformed)
        let root = Authority("Dotted") { $0.permittedNames = [".test"] }
        #expect(failure(try root.issue().certificates, .anchored(root)) != nil)
    }
}
