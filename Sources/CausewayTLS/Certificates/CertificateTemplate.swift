internal import CCausewayLibraries

/// A certificate to issue: for a self-signed identity, or a test certificate with defects.
package struct CertificateTemplate: Sendable {
    /// The kind of key to generate.
    package enum KeyKind: Sendable {
        case p256
        case p384
        case ed25519
        case rsa(bits: Int)
    }

    package enum Usage: Sendable { case server, client }

    /// The common name; an empty string creates an empty subject.
    package var subject: String
    package var names: [SubjectAlternativeName] = []
    /// The validity period in seconds since 1970.
    package var notBefore: Int64
    package var notAfter: Int64
    package var isAuthority = false
    /// The maximum number of intermediate authorities below this one.
    package var pathLength: UInt8?
    /// Extended key usages; empty to omit the extension.
    package var usages: [Usage] = [.server, .client]
    package var keyKind = KeyKind.p256
    /// Whether to sign with SHA-1, which TLS implementations reject.
    package var usesSHA1 = false
    /// The DNS domains for which an authority may issue certificates, including subdomains.
    package var permittedNames: [String] = []
    /// The extensions to omit, by the last number in their identifier under 2.5.29, such as 15 for the key usage.
    package var omittedExtensions: Set<UInt32> = []
    /// Additional extensions, each an RFC 5280 `Extension` in DER.
    package var extraExtensions: [[UInt8]] = []

    /// Creates a template. Both times are in seconds since 1970.
    package init(subject: String, notBefore: Int64, notAfter: Int64) {
        self.subject = subject
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// Issues a certificate for a new key or for the key of `holder`.
    ///
    /// - Parameters:
    ///   - issuer: The signing identity; `nil` for a self-signed certificate.
    ///   - holder: The identity whose key to certify; `nil` to generate a key.
    /// - Throws: ``TLSFailure`` with `errSSLInternal` if OpenSSL fails, or with `errSSLBadConfiguration` if the
    ///   issuer's type of key cannot sign certificates.
    package func issue(
        by issuer: TLSIdentity? = nil, for holder: TLSIdentity? = nil
    ) throws(TLSFailure) -> TLSIdentity {
        try OpenSSLLibrary.load()
        cw_ERR_clear_error()
        let key = if let holder { holder.key } else { try Self.makeKey(keyKind) }
        let publicKey = encoded { cw_i2d_PUBKEY(key.pointer, $0) }
        let certificate = try certificate(publicKey, issuer: issuer, issuerKey: issuer?.key ?? key)
        let chain = issuer.map { $0.certificates.filter { $0.subject != $0.issuer } } ?? []
        return try TLSIdentity(certificates: [certificate] + chain, key: key)
    }

    /// Issues a certificate for an existing public key.
    ///
    /// - Parameters:
    ///   - publicKeyInfo: The SubjectPublicKeyInfo in DER.
    ///   - issuer: The signing identity.
    /// - Throws: ``TLSFailure`` with `errSSLInternal` if OpenSSL fails.
    package func certify(_ publicKeyInfo: [UInt8], by issuer: TLSIdentity) throws(TLSFailure) -> Certificate {
        try OpenSSLLibrary.load()
        cw_ERR_clear_error()
        return try certificate(publicKeyInfo, issuer: issuer, issuerKey: issuer.key)
    }

    private func certificate(
        _ publicKey: [UInt8], issuer: TLSIdentity?, issuerKey: SharedObject
    ) throws(TLSFailure) -> Certificate {
        let algorithm = try Self.signatureAlgorithm(issuerKey, usesSHA1: usesSHA1)
        let body = try certificateBody(publicKey, issuer: issuer, algorithm: algorithm)
        let signature = try Self.sign(body, issuerKey, usesSHA1: usesSHA1)
        return try Certificate(der: DERWriter.sequence(body, algorithm, DERWriter.bits(signature)))
    }

    // MARK: The certificate

    /// Encodes the TBSCertificate (RFC 5280 §4.1).
    private func certificateBody(
        _ publicKey: [UInt8], issuer: TLSIdentity?, algorithm: [UInt8]
    ) throws(TLSFailure) -> [UInt8] {
        var serial = try LibraryRandom.bytes(16)
        serial[0] = serial[0] & 0x3f | 0x40
        let ownName = Self.name(subject)
        let keyIdentifier = Array(sha256(publicKey).prefix(20))
        let issuerIdentifier =
            issuer.map { Array(sha256($0.certificates[0].subjectPublicKeyInfo).prefix(20)) } ?? keyIdentifier
        return DERWriter.sequence(
            DERWriter.tagged(0, DERWriter.integer([2])), DERWriter.integer(serial), algorithm,
            issuer?.certificates[0].subjectDER ?? ownName,
            DERWriter.sequence(DERWriter.time(notBefore), DERWriter.time(notAfter)), ownName, publicKey,
            DERWriter.tagged(3, DERWriter.value(0x30, extensions(keyIdentifier, issuerIdentifier))))
    }

    private static func name(_ text: String) -> [UInt8] {
        guard !text.isEmpty else { return DERWriter.sequence() }
        let attribute = DERWriter.sequence(DERWriter.identifier(2, 5, 4, 3), DERWriter.text(text))
        return DERWriter.sequence(DERWriter.set(attribute))
    }

    /// Encodes an `Extension` (RFC 5280 §4.1.2.9).
    package static func certificateExtension(
        _ identifier: [UInt8], isCritical: Bool = false, _ content: [UInt8]
    ) -> [UInt8] {
        DERWriter.sequence(identifier, isCritical ? DERWriter.boolean(true) : [], DERWriter.bytes(content))
    }

    /// The extension that requires a stapled OCSP response (RFC 7633 §4.2.3.1), for ``extraExtensions``.
    package static var mustStaple: [UInt8] {
        certificateExtension(
            DERWriter.identifier(1, 3, 6, 1, 5, 5, 7, 1, 24), DERWriter.sequence(DERWriter.integer([5])))
    }

    private func extensions(_ keyIdentifier: [UInt8], _ issuerIdentifier: [UInt8]) -> [UInt8] {
        func standard(_ number: UInt32, isCritical: Bool = false, _ content: [UInt8]) -> [UInt8] {
            omittedExtensions.contains(number)
                ? []
                : Self.certificateExtension(DERWriter.identifier(2, 5, 29, number), isCritical: isCritical, content)
        }
        var result = standard(14, DERWriter.bytes(keyIdentifier))
        result += standard(35, DERWriter.sequence(DERWriter.value(0x80, issuerIdentifier)))
        if isAuthority {
            let depth = pathLength.map { DERWriter.integer([$0]) } ?? []
            result += standard(19, isCritical: true, DERWriter.sequence(DERWriter.boolean(true), depth))
        }
        // The key usage extension permits digital signatures. For an authority, it also permits signing certificates
        // and CRLs.
        result += standard(
            15, isCritical: true, isAuthority ? DERWriter.bits([0x86], unused: 1) : DERWriter.bits([0x80], unused: 7))
        if !isAuthority, !usages.isEmpty {
            let purposes = usages.flatMap { DERWriter.identifier(1, 3, 6, 1, 5, 5, 7, 3, $0 == .server ? 1 : 2) }
            result += standard(37, DERWriter.value(0x30, purposes))
        }
        if !names.isEmpty {
            let content = names.flatMap(Self.generalName)
            result += standard(17, isCritical: subject.isEmpty, DERWriter.value(0x30, content))
        }
        if !permittedNames.isEmpty {
            let trees = permittedNames.flatMap { DERWriter.sequence(Self.generalName(.name($0))) }
            result += standard(30, isCritical: true, DERWriter.sequence(DERWriter.value(0xa0, trees)))
        }
        return result + extraExtensions.flatMap { $0 }
    }

    private static func generalName(_ name: SubjectAlternativeName) -> [UInt8] {
        switch name {
        case .email(let text): DERWriter.value(0x81, Array(text.utf8))
        case .name(let text): DERWriter.value(0x82, Array(text.utf8))
        case .uri(let text): DERWriter.value(0x86, Array(text.utf8))
        case .address(let bytes): DERWriter.value(0x87, bytes)
        case .other: []
        }
    }

    // MARK: Keys and signatures

    private static func makeKey(_ kind: KeyKind) throws(TLSFailure) -> SharedObject {
        let (name, parameter, value): (String, String?, String) =
            switch kind {
            case .p256: ("EC", "ec_paramgen_curve", "P-256")
            case .p384: ("EC", "ec_paramgen_curve", "P-384")
            case .ed25519: ("ED25519", nil, "")
            case .rsa(let bits): ("RSA", "rsa_keygen_bits", "\(bits)")
            }
        return try PrivateKey.make(name, parameter: parameter, value)
    }

    /// Returns the AlgorithmIdentifier for signatures with this key, in DER.
    ///
    /// - Throws: ``TLSFailure`` with `errSSLBadConfiguration` if the key is not an RSA, elliptic curve or EdDSA key,
    ///   for example for an RSA-PSS key.
    static func signatureAlgorithm(_ key: SharedObject, usesSHA1: Bool) throws(TLSFailure) -> [UInt8] {
        if let curve = EdwardsCurve(key.pointer) { return curve.algorithm }
        switch cw_EVP_PKEY_get0_type_name(key.pointer).map({ String(cString: $0) }) {
        case "RSA":
            return DERWriter.sequence(
                DERWriter.identifier(1, 2, 840, 113_549, 1, 1, usesSHA1 ? 5 : 11), DERWriter.value(0x05, []))
        case "EC":
            return DERWriter.sequence(
                usesSHA1
                    ? DERWriter.identifier(1, 2, 840, 10_045, 4, 1) : DERWriter.identifier(1, 2, 840, 10_045, 4, 3, 2))
        case let name:
            throw TLSFailure(.badConfiguration, "cannot sign a certificate with a key of type \(name ?? "unknown")")
        }
    }

    static func sign(_ bytes: [UInt8], _ key: SharedObject, usesSHA1: Bool) throws(TLSFailure) -> [UInt8] {
        guard let context = cw_EVP_MD_CTX_new() else { throw TLSFailure(.library, OpenSSLLibrary.takeReason()) }
        defer { cw_EVP_MD_CTX_free(context) }
        let digest = EdwardsCurve(key.pointer) != nil ? nil : usesSHA1 ? cw_EVP_sha1() : cw_EVP_sha256()
        var signature = [UInt8](repeating: 0, count: 1_024)
        var count = signature.count
        guard cw_EVP_DigestSignInit(context, nil, digest, nil, key.pointer) == 1,
            cw_EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1
        else { throw TLSFailure(.library, OpenSSLLibrary.takeReason()) }
        return Array(signature.prefix(count))
    }
}
