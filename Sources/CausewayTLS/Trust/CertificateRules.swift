/// The validation rules for a single certificate in a chain (RFC 5280 §4 and §6.1).
///
/// An anchor's extensions are checked if present, but none is required, because an anchor is only a name and a key
/// (RFC 5280 §6.1.1).
struct CertificateRules {
    let role: PeerTrust.Role
    /// The validation time in seconds since 1970.
    let time: Int64

    /// The violated rule, with details.
    struct Objection {
        let rule: TrustFailure.Rule
        var detail: String?

        init(_ rule: TrustFailure.Rule, _ detail: String? = nil) {
            self.rule = rule
            self.detail = detail
        }
    }

    // MARK: Issuers

    /// Returns the reason why `issuer` must not sign certificates; `nil` if it may.
    func objection(toIssuer issuer: ParsedCertificate, isAnchor: Bool) -> Objection? {
        let extensions = issuer.fields.extensions
        let constraints = extensions.basicConstraints
        guard isAnchor else {
            guard issuer.fields.version == 3, constraints?.isAuthority == true else {
                return Objection(.notAnAuthority, "it is not marked as an authority")
            }
            guard let usage = extensions.keyUsage else {
                return Objection(.malformed, "an authority without a key usage, §4.2.1.3")
            }
            return usage.contains(.certificateSigning) ? nil : Objection(.notAnAuthority, "its key usage")
        }
        if let usage = extensions.keyUsage, !usage.contains(.certificateSigning) {
            return Objection(.notAnAuthority, "its key usage")
        }
        // Check anchors too, because an anchor may be a device's own certificate and not an authority. An anchor
        // without basic constraints is accepted if its version is 1 or 2, because these versions have no extensions. It
        // is also accepted if it has a key usage: the code above has checked that this usage includes signing
        // certificates.
        let isAuthority = constraints?.isAuthority ?? (issuer.fields.version < 3 || extensions.keyUsage != nil)
        return isAuthority ? nil : Objection(.notAnAuthority, "it is not marked as an authority")
    }

    // MARK: Every certificate

    /// Checks a certificate, except its permission to sign. Returns the first violation, or `nil`.
    func objection(to parsed: ParsedCertificate, isLeaf: Bool, isAnchor: Bool) -> Objection? {
        if let objection = objectionToTime(of: parsed.fields) { return objection }
        if let problem = parsed.keyProblem { return Objection(.weakKey, problem) }
        if let unknown = parsed.fields.extensions.unknownCritical { return Objection(.criticalExtension, unknown) }
        if !isAnchor {
            if let problem = parsed.signatureProblem { return Objection(.weakSignature, problem) }
            if let reason = Self.profileProblem(parsed.fields) { return Objection(.malformed, reason) }
        }
        if isLeaf { return objectionToLeaf(parsed, isAnchor: isAnchor) }
        // An authority's extended key usage restricts the certificates that it signs.
        return allows(parsed.fields.extensions, .authority) ? nil : Objection(.wrongPurpose, "extended key usage")
    }

    private func objectionToTime(of fields: CertificateFields) -> Objection? {
        if time < fields.notBefore { return Objection(.notYetValid) }
        return time > fields.notAfter ? Objection(.expired) : nil
    }

    private func objectionToLeaf(_ parsed: ParsedCertificate, isAnchor: Bool) -> Objection? {
        let extensions = parsed.fields.extensions
        if !isAnchor, extensions.basicConstraints?.isAuthority == true { return Objection(.authorityAsLeaf) }
        // All default cipher suites sign the handshake, so the key usage must include digital signatures (RFC 8446 §4.4.2.2).
        if role != .any, let usage = extensions.keyUsage, !usage.contains(.digitalSignature) {
            return Objection(.wrongPurpose, "key usage")
        }
        return allows(extensions, .leaf) ? nil : Objection(.wrongPurpose, "extended key usage")
    }

    private enum Position { case leaf, authority }

    /// Returns whether the extended key usage allows the peer's TLS role. A certificate without this extension allows
    /// all uses. `anyExtendedKeyUsage` is accepted only in an authority's certificate, because a leaf certificate with
    /// this usage would be valid for every purpose.
    private func allows(_ extensions: CertificateExtensions, _ position: Position) -> Bool {
        guard role != .any, let purposes = extensions.purposes else { return true }
        let needed = role == .server ? CertificateExtensions.Purpose.server : CertificateExtensions.Purpose.client
        return purposes.contains(needed)
            || position == .authority && purposes.contains(CertificateExtensions.Purpose.any)
    }

    // MARK: The profile

    /// Checks the RFC 5280 requirements that the parser does not check. Returns the first violation, or `nil`.
    ///
    /// The requirements are those of RFC 5280 §4.1.1.2, §4.1.2.2, §4.1.2.4, §4.2.1.1, §4.2.1.3 and §4.2.1.6.
    private static func profileProblem(_ fields: CertificateFields) -> String? {
        if !fields.isAlgorithmConsistent { return "its two signature algorithm fields differ, §4.1.1.2" }
        if fields.serialNumber.count > 20 || fields.serialNumber.first.map({ $0 >= 0x80 }) ?? true
            || fields.serialNumber.allSatisfy({ $0 == 0 })
        {
            return "invalid serial number, §4.1.2.2"
        }
        if fields.issuer.isEmpty { return "the issuer name is empty, §4.1.2.4" }
        let extensions = fields.extensions
        guard fields.version == 3 else { return nil }
        if extensions.keyIdentifiers.authority == nil {
            return "the authority key identifier is missing (authorityKeyIdentifier=keyid), §4.2.1.1"
        }
        if extensions.keyIdentifiers.isCritical { return "a key identifier extension is critical, §4.2.1.1" }
        if fields.subject.isEmpty, extensions.alternativeNames?.isCritical != true {
            return "it has no subject, and its alternative names are not critical, §4.2.1.6"
        }
        if extensions.keyUsage == [] { return "its key usage is empty, §4.2.1.3" }
        return authorityProblem(fields)
    }

    /// Returns the violated requirement of RFC 5280 §4.1.2.6, §4.2.1.2 and §4.2.1.9-4.2.1.11, or `nil`.
    private static func authorityProblem(_ fields: CertificateFields) -> String? {
        let extensions = fields.extensions
        let constraints = extensions.basicConstraints
        guard constraints?.isAuthority == true else {
            if extensions.keyUsage?.contains(.certificateSigning) == true {
                return "its key usage allows signing certificates, but it is not an authority, §4.2.1.9"
            }
            if constraints?.pathLength != nil {
                return "it has a path length limit, but it is not an authority, §4.2.1.9"
            }
            return extensions.nameConstraints == nil
                ? nil : "it has name constraints, but it is not an authority, §4.2.1.10"
        }
        if constraints?.isCritical != true { return "its basic constraints are not critical, §4.2.1.9" }
        if extensions.keyIdentifiers.subject == nil { return "the subject key identifier is missing, §4.2.1.2" }
        if fields.subject.isEmpty { return "an authority without a name, §4.1.2.6" }
        if extensions.policy.constraints?.isCritical == false {
            return "its policy constraints are not critical, §4.2.1.11"
        }
        if constraints?.pathLength != nil, extensions.keyUsage?.contains(.certificateSigning) != true {
            return "it has a path length limit, but must not sign certificates, §4.2.1.9"
        }
        return nil
    }
}
