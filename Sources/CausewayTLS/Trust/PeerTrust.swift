internal import CCausewayOpenSSL

/// The certificates of a peer, to be judged. Judging takes milliseconds and no network; any thread may do it.
package struct PeerTrust: Sendable {
    /// Which side of TLS the peer is on.
    package enum Role: Hashable, Sendable { case server, client }

    /// What the peer sent, its own certificate first.
    package let certificates: [Certificate]
    package let role: Role
    /// Whom the program asked for. `nil` for clients, and for hosts that no certificate can name.
    package let reference: ReferenceName?
    /// The statement of status that came with the certificates (RFC 6066 §8), in DER.
    package let stapledResponse: [UInt8]?
    package var settings: TrustSettings
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
        self.store = store
    }

    /// The same certificates, to be judged otherwise.
    package init(
        certificates: [Certificate], role: Role, reference: ReferenceName?, settings: TrustSettings
    ) {
        self.certificates = certificates
        self.role = role
        self.reference = reference
        self.stapledResponse = nil
        self.settings = settings
        self.store = nil
    }

    package func judged(by settings: TrustSettings) -> PeerTrust {
        PeerTrust(certificates: certificates, role: role, reference: reference, settings: settings)
    }

    /// More certificates than any chain needs are refused before any work is done for them.
    private static let mostCertificates = 16
    private static let longestChain: CInt = 8
    /// 112 bits: RSA with 2,048 bits, no SHA-1 and no MD5 in any signature.
    private static let securityLevel: CInt = 2

    /// Judges the certificates by all rules.
    ///
    /// - Returns: The chain from the peer's own certificate to the anchor.
    /// - Throws: The first rule that was broken.
    package func evaluate() throws(TrustFailure) -> [Certificate] {
        guard let leaf = certificates.first else { throw TrustFailure(.noCertificate) }
        if isExcepted { return [leaf] }
        guard certificates.count <= Self.mostCertificates else {
            throw TrustFailure(.tooComplex, leaf, depth: 0, detail: "\(certificates.count) certificates")
        }
        let chain = try buildChain(leaf)
        try checkUse(of: leaf)
        if role == .server { try checkName(of: leaf) }
        try checkPins(of: chain)
        return chain
    }

    /// Whether the peer's own certificate is accepted whatever is wrong with it.
    package var isExcepted: Bool {
        guard !settings.exceptions.isEmpty, let reference, let leaf = certificates.first else { return false }
        return settings.exceptions.contains(.init(host: reference, fingerprint: leaf.fingerprint))
    }

    /// RFC 5280 §6, by the library: signatures, dates, constraints, purposes along the chain.
    private func buildChain(_ leaf: Certificate) throws(TrustFailure) -> [Certificate] {
        guard let store = store ?? (try? TrustStore.store(for: settings)), let context = cw_X509_STORE_CTX_new()
        else { throw TrustFailure(.unknownIssuer, leaf, depth: 0, detail: "OpenSSL fails") }
        defer { cw_X509_STORE_CTX_free(context) }
        let result: Result<[Certificate], TrustFailure> = withStack(of: Array(certificates.dropFirst())) { others in
            guard cw_X509_STORE_CTX_init(context, store.object.pointer, leaf.object.pointer, others) == 1 else {
                return .failure(TrustFailure(.malformed, leaf, depth: 0, detail: OpenSSLLibrary.takeReason()))
            }
            setParameters(cw_X509_STORE_CTX_get0_param(context))
            if cw_X509_verify_cert(context) == 1 {
                return .success(Certificate.all(in: cw_X509_STORE_CTX_get0_chain(context)))
            }
            return .failure(Self.failure(of: context, leaf))
        }
        cw_ERR_clear_error()
        return try result.get()
    }

    private func setParameters(_ parameters: OpaquePointer?) {
        var flags = CW_CHAIN_STRICT | CW_CHAIN_TRUSTED_FIRST
        // An anchor that the program names may be an intermediate, or the peer's own certificate.
        if !settings.anchors.isEmpty { flags |= CW_CHAIN_PARTIAL }
        cw_X509_VERIFY_PARAM_set_flags(parameters, CUnsignedLong(flags))
        cw_X509_VERIFY_PARAM_set_purpose(
            parameters, CInt(role == .server ? CW_PURPOSE_SSL_SERVER : CW_PURPOSE_SSL_CLIENT))
        cw_X509_VERIFY_PARAM_set_depth(parameters, Self.longestChain)
        cw_X509_VERIFY_PARAM_set_auth_level(parameters, Self.securityLevel)
        if let time = settings.time { cw_X509_VERIFY_PARAM_set_time(parameters, Int(time)) }
    }

    private static func failure(of context: OpaquePointer, _ leaf: Certificate) -> TrustFailure {
        let number = cw_X509_STORE_CTX_get_error(context)
        let culprit = cw_X509_STORE_CTX_get_current_cert(context).map { Certificate(retaining: $0) }
        let text = cw_X509_verify_cert_error_string(Int(number)).map { String(cString: $0) }
        return TrustFailure(
            TrustFailure.rule(ofLibrary: number), culprit ?? leaf,
            depth: Int(cw_X509_STORE_CTX_get_error_depth(context)), detail: text)
    }

    private func checkUse(of leaf: Certificate) throws(TrustFailure) {
        // An authority that the program trusts by name may also stand for itself: development servers do that.
        if leaf.isAuthority, !settings.anchors.contains(leaf) { throw TrustFailure(.authorityAsLeaf, leaf, depth: 0) }
        let usage = cw_X509_get_extended_key_usage(leaf.object.pointer)
        let needed = role == .server ? CW_USAGE_SSL_SERVER : CW_USAGE_SSL_CLIENT
        guard usage & UInt32(needed) != 0 else {
            throw TrustFailure(.wrongPurpose, leaf, depth: 0, detail: "extended key usage")
        }
    }

    private func checkName(of leaf: Certificate) throws(TrustFailure) {
        guard let reference else { throw TrustFailure(.notAHostName, leaf, depth: 0) }
        let names = leaf.alternativeNames
        guard !names.isEmpty else { throw TrustFailure(.noAlternativeName, leaf, depth: 0) }
        guard reference.matches(names) else {
            throw TrustFailure(.nameMismatch, leaf, depth: 0, detail: "asked for \(reference)")
        }
    }

    private func checkPins(of chain: [Certificate]) throws(TrustFailure) {
        guard !settings.pins.isEmpty else { return }
        if chain.contains(where: { settings.pins.contains($0.publicKeyPin) }) { return }
        throw TrustFailure(.pinMismatch, chain.first, depth: 0)
    }
}
