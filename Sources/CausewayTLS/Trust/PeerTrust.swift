internal import FoundationEssentials

/// A peer's certificates, for validation. Validation takes milliseconds and does no network I/O. Thread-safe.
package struct PeerTrust: Sendable {
    /// The peer's TLS role; `any` if the certificate need not be for TLS.
    package enum Role: Hashable, Sendable { case server, client, any }

    /// The certificates from the peer, its own first.
    package let certificates: [Certificate]
    package let role: Role
    /// The requested host; `nil` if the peer is a client, or if no certificate can contain such a host.
    package let reference: ReferenceName?
    /// The stapled OCSP response (RFC 6066 §8), in DER.
    package let stapledResponse: [UInt8]?
    package var settings: TrustSettings
    /// Whether a server's certificate must contain ``reference``.
    let isNameChecked: Bool
    private let store: TrustStore?

    init(
        certificates: [Certificate], role: Role, reference: ReferenceName?, stapledResponse: [UInt8]? = nil,
        settings: TrustSettings, store: TrustStore
    ) {
        self.certificates = certificates
        self.role = role
        self.reference = reference
        self.stapledResponse = stapledResponse
        self.settings = settings
        self.isNameChecked = true
        self.store = store
    }

    /// Creates a validation without a connection.
    ///
    /// - Parameters:
    ///   - certificates: The peer's certificates, its own first.
    ///   - role: The peer's TLS role.
    ///   - reference: The requested host; `nil` if no certificate can contain it.
    ///   - isNameChecked: `false` if the program identifies the peer by other means than a name.
    ///   - settings: The trust settings.
    package init(
        certificates: [Certificate], role: Role, reference: ReferenceName?, isNameChecked: Bool = true,
        settings: TrustSettings
    ) {
        self.certificates = certificates
        self.role = role
        self.reference = reference
        self.stapledResponse = nil
        self.isNameChecked = isNameChecked
        self.settings = settings
        self.store = nil
    }

    package func applying(_ settings: TrustSettings) -> PeerTrust {
        PeerTrust(
            certificates: certificates, role: role, reference: reference, isNameChecked: isNameChecked,
            settings: settings)
    }

    /// The maximum number of accepted certificates, far more than a valid chain needs. The check precedes all other work.
    static let maximumCertificates = 64

    /// Validates the certificates: the chain by RFC 5280, the name by RFC 9525.
    ///
    /// - Returns: The chain from the peer's own certificate to the anchor.
    /// - Throws: The first violated rule.
    package func evaluate() throws(TrustFailure) -> [Certificate] {
        guard let leaf = certificates.first else { throw TrustFailure(.noCertificate) }
        if isExcepted { return [leaf] }
        guard certificates.count <= Self.maximumCertificates else {
            throw TrustFailure(.tooComplex, leaf, depth: 0, detail: "\(certificates.count) certificates")
        }
        let own = try Self.read(leaf, at: 0)
        let (others, unreadable) = readOthers(except: own)
        var search = ChainSearch(
            own, others: others, unreadable: unreadable, anchors: store ?? TrustStore(settings),
            rules: CertificateRules(role: role, time: settings.time ?? Int64(Date().timeIntervalSince1970)))
        let chain = try search.run().map(\.certificate)
        if role == .server, isNameChecked { try checkName(of: own) }
        try checkPins(of: chain)
        return chain
    }

    /// Whether the program has made an exception for the peer's own certificate. The certificate is then accepted in
    /// spite of any violation.
    package var isExcepted: Bool {
        guard !settings.exceptions.isEmpty, let reference, let leaf = certificates.first else { return false }
        return settings.exceptions.contains(.init(host: reference, fingerprint: leaf.fingerprint))
    }

    private static func read(_ certificate: Certificate, at depth: Int) throws(TrustFailure) -> ParsedCertificate {
        do throws(DERError) {
            return try ParsedCertificate(certificate)
        } catch {
            throw TrustFailure(.malformed, certificate, depth: depth, detail: error.reason)
        }
    }

    /// Parses the peer's other certificates, without duplicates. A malformed certificate matters only if the chain needs it.
    private func readOthers(except own: ParsedCertificate) -> ([ParsedCertificate], TrustFailure?) {
        var others: [ParsedCertificate] = []
        var unreadable: TrustFailure?
        var seen: Set<[UInt8]> = [own.der]
        for (depth, certificate) in certificates.enumerated().dropFirst() {
            do throws(TrustFailure) {
                let parsed = try Self.read(certificate, at: depth)
                if seen.insert(parsed.der).inserted { others.append(parsed) }
            } catch {
                unreadable = unreadable ?? error
            }
        }
        return (others, unreadable)
    }

    private func checkName(of leaf: ParsedCertificate) throws(TrustFailure) {
        guard let reference else { throw TrustFailure(.notAHostName, leaf.certificate, depth: 0) }
        guard let names = leaf.fields.extensions.alternativeNames?.names else {
            throw TrustFailure(.noAlternativeName, leaf.certificate, depth: 0)
        }
        guard reference.matches(names.prefix(ReferenceName.nameLimit).map(\.alternativeName)) else {
            throw TrustFailure(.nameMismatch, leaf.certificate, depth: 0, detail: "requested: \(reference)")
        }
    }

    private func checkPins(of chain: [Certificate]) throws(TrustFailure) {
        guard !settings.pins.isEmpty else { return }
        if chain.contains(where: { settings.pins.contains($0.publicKeyPin) }) { return }
        throw TrustFailure(.pinMismatch, chain.first, depth: 0)
    }

    /// Checks the stapled OCSP response for a validated chain.
    ///
    /// - Returns: A failure if the certificate is revoked, or if it requires a valid stapled response and there is none (RFC 7633 §4.3.3).
    package func statusFailure(_ response: [UInt8]?, of chain: [Certificate]) -> TrustFailure? {
        guard let leaf = chain.first, !isExcepted else { return nil }
        let status = StapledStatus(
            response, leaf: leaf, issuer: chain.dropFirst().first ?? leaf, time: settings.time)
        switch status {
        case .good: return nil
        case .revoked: return TrustFailure(.revoked, leaf, depth: 0)
        case .unusable(let reason):
            return leaf.mustStaple ? TrustFailure(.stapleMissing, leaf, depth: 0, detail: reason) : nil
        }
    }

    /// The maximum number of certificates that are tried as the leaf's issuer. Each try costs one signature check on
    /// the OCSP response.
    private static let maximumStatusIssuers = 8

    /// Checks whether a stapled OCSP response revokes a certificate that the program validated. The possible issuers
    /// are the chain from ``evaluate()``, if there is one, and the certificates that the peer sent.
    package func revocation(_ response: [UInt8]?) -> TrustFailure? {
        guard let response, let leaf = certificates.first, !isExcepted else { return nil }
        let issuers = ((try? evaluate()) ?? []).dropFirst() + certificates.dropFirst() + [leaf]
        var budget = VerificationBudget()
        let isRevoked = issuers.prefix(Self.maximumStatusIssuers).contains { issuer in
            guard let key = (try? ParsedCertificate(issuer))?.key,
                budget.spend(.signature(key, byteCount: response.count))
            else { return false }
            return StapledStatus(response, leaf: leaf, issuer: issuer, time: settings.time) == .revoked
        }
        return isRevoked ? TrustFailure(.revoked, leaf, depth: 0) : nil
    }
}
