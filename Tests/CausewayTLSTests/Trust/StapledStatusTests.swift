import CCausewayLibraries
import CausewayTypes
import Testing

@testable import CausewayTLS

@Suite("Stapled status")
struct StapledStatusTests {
    /// Returns an OCSP response as an authority creates it (RFC 6960 §4.2.1).
    private func statement(
        for leaf: Certificate, by authority: Authority = .shared, isRevoked: Bool = false,
        from start: Int64 = Authority.now - 60, until end: Int64? = Authority.now + 60, signer: TLSIdentity? = nil
    ) throws -> [UInt8] {
        let signer = signer ?? authority.identity
        let identifier = try #require(
            cw_OCSP_cert_to_id(cw_EVP_sha1(), leaf.object.pointer, authority.certificate.object.pointer))
        defer { cw_OCSP_CERTID_free(identifier) }
        let status =
            isRevoked ? DERWriter.value(0xa1, DERWriter.generalizedTime(start)) : DERWriter.value(0x80, [])
        let single = DERWriter.sequence(
            encoded { cw_i2d_OCSP_CERTID(identifier, $0) }, status, DERWriter.generalizedTime(start),
            end.map { DERWriter.tagged(0, DERWriter.generalizedTime($0)) } ?? [])
        let body = DERWriter.sequence(
            DERWriter.tagged(1, authority.certificate.subjectDER), DERWriter.generalizedTime(start),
            DERWriter.sequence(single))
        let signature = try CertificateTemplate.sign(body, signer.key, usesSHA1: false)
        let basic = try DERWriter.sequence(
            body, CertificateTemplate.signatureAlgorithm(signer.key, usesSHA1: false), DERWriter.bits(signature))
        let kind = DERWriter.identifier(1, 3, 6, 1, 5, 5, 7, 48, 1, 1)
        return DERWriter.sequence(
            DERWriter.value(0x0a, [0]), DERWriter.tagged(0, DERWriter.sequence(kind, DERWriter.bytes(basic))))
    }

    private func evaluate(_ der: [UInt8]?, _ leaf: Certificate) throws -> StapledStatus {
        StapledStatus(
            der, leaf: leaf, issuer: Authority.shared.certificate,
            time: Authority.now)
    }

    @Test("Signature, times and subject are checked")
    func statements() throws {
        let leaf = try Identities.server.get().certificates[0]
        let other = try Authority.shared.issue().certificates[0]
        #expect(try evaluate(statement(for: leaf), leaf) == .good)
        #expect(try evaluate(statement(for: leaf, until: nil), leaf) == .good)
        #expect(try evaluate(statement(for: leaf, isRevoked: true), leaf) == .revoked)
        let useless: [[UInt8]?] = [
            nil, [], [1, 2, 3], [0x30, 3, 0x0a, 1, 6], try statement(for: other),
            try statement(for: leaf, from: Authority.now + 1_000, until: Authority.now + 2_000),
            try statement(for: leaf, from: Authority.now - 2_000, until: Authority.now - 1_000),
            try statement(for: leaf, from: Authority.now - 8 * Authority.day, until: nil),
            try statement(for: leaf, isRevoked: true, signer: Authority("Test Root").identity),
            try statement(for: leaf, signer: Authority.shared.issue()),
            try statement(for: leaf) + [UInt8](repeating: 0, count: 70_000),
        ]
        for (index, der) in useless.enumerated() {
            guard case .unusable = try evaluate(der, leaf) else {
                Issue.record("response \(index) was accepted")
                continue
            }
        }
    }

    @Test("A response is not valid at the first and last time that a program can set", arguments: [Int64.min, .max])
    func extremes(_ time: Int64) throws {
        let leaf = try Identities.server.get().certificates[0]
        for end in [Authority.now + 60, nil] {
            let response = try statement(for: leaf, until: end)
            guard
                case .unusable = StapledStatus(
                    response, leaf: leaf, issuer: Authority.shared.certificate, time: time)
            else {
                Issue.record("accepted at \(time)")
                return
            }
        }
    }

    // RFC 8446 §4.4.2.1.
    @Test(
        "In the handshake: revoked is refused, and so is a promised response that is missing or invalid",
        arguments: [TLSVersion.tls12, .tls13])
    func handshake(_ version: TLSVersion) throws {
        let promised = try Authority.shared.issue { $0.extraExtensions = [CertificateTemplate.mustStaple] }
        let plain = try Identities.server.get()
        func failure(_ identity: TLSIdentity, _ response: [UInt8]?) throws -> TrustFailure.Rule? {
            let pair = try EnginePair(
                .client { $0.maximumVersion = version },
                .server {
                    $0.identity = identity
                    $0.stapledResponse = response
                })
            pair.run()
            if case .untrusted(let failure) = pair.clientFailure?.code { return failure.rule }
            #expect(pair.isEstablished && pair.client.negotiation?.stapledResponse == response)
            return nil
        }
        let good = try statement(for: promised.certificates[0])
        #expect(try failure(promised, good) == nil)
        #expect(try failure(promised, statement(for: promised.certificates[0], isRevoked: true)) == .revoked)
        #expect(try failure(plain, statement(for: plain.certificates[0], isRevoked: true)) == .revoked)
        let rules: [(TLSIdentity, TrustFailure.Rule?)] = [(promised, .stapleMissing), (plain, nil)]
        for (identity, rule) in rules {
            for response in try useless(for: identity.certificates[0]) {
                #expect(try failure(identity, response) == rule)
            }
        }
    }

    /// Returns no response, and responses that say nothing valid about a certificate.
    private func useless(for leaf: Certificate) throws -> [[UInt8]?] {
        let other = try Authority.shared.issue().certificates[0]
        return [
            nil, [1, 2, 3], try statement(for: other),
            try statement(for: leaf, from: Authority.now - 2_000, until: Authority.now - 1_000),
            try statement(for: leaf, from: Authority.now + 1_000, until: Authority.now + 2_000),
            try statement(for: leaf, signer: Authority("Test Root").identity),
        ]
    }

    @Test(
        "In the handshake: an owner that verifies cannot accept a revoked certificate unknowingly",
        arguments: [TLSVersion.tls12, .tls13])
    func evaluatedByOwner(_ version: TLSVersion) throws {
        let identity = try Identities.server.get()
        for isRevoked in [true, false] {
            let response = try statement(for: identity.certificates[0], isRevoked: isRevoked)
            let pair = try EnginePair(
                .client {
                    $0.maximumVersion = version
                    $0.verifier = .owner(1)
                },
                .server {
                    $0.identity = identity
                    $0.stapledResponse = response
                })
            pair.run()
            guard case .evaluateTrust = pair.clientProgress else {
                Issue.record("not asked: \(pair.clientProgress)")
                return
            }
            pair.client.trustEvaluated(isTrusted: true)
            pair.run()
            if case .untrusted(let failure)? = pair.clientFailure?.code {
                #expect(isRevoked && failure.rule == .revoked)
            } else {
                #expect(!isRevoked && pair.isEstablished)
            }
        }
    }
}
