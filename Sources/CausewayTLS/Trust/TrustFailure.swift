internal import CCausewayLibraries
package import CausewayTypes

/// The reason why the peer's certificates are rejected: the certificate, the violated rule, and advice.
package struct TrustFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Rule: String, Hashable, Sendable, CaseIterable {
        case noCertificate = "the peer sent no certificate"
        case unknownIssuer = "its issuer is not trusted, or an intermediate certificate is missing"
        case selfSigned = "it is self-signed and not trusted"
        case expired = "it has expired"
        case notYetValid = "it is not valid yet"
        case badSignature = "its signature is invalid"
        case wrongPurpose = "its key usage does not allow this side of TLS"
        case notAnAuthority = "it signed another certificate, but is not allowed to"
        case authorityAsLeaf = "it is an authority's certificate, but a host presented it as its own"
        case weakKey = "its key is too weak"
        case weakSignature = "its signature uses an insecure digest"
        case nameConstraint = "its issuer is not allowed to sign one of its names"
        case chainTooLong = "the chain is too long"
        case policy = "an authority in the chain requires a policy that it does not have"
        case criticalExtension = "it has an unknown critical extension"
        case malformed = "it violates the Internet profile (RFC 5280)"
        case noAlternativeName = "it has no host name: the subject alternative name extension is missing"
        case nameMismatch = "it is not for this host"
        case notAHostName = "the requested host name cannot be in a certificate"
        case pinMismatch = "no key in the chain is pinned"
        case stapleMissing = "it requires a stapled OCSP response, but there is no valid one"
        case revoked = "its issuer has revoked it"
        case tooComplex = "the peer sent too many certificates"
    }

    package let rule: Rule
    /// The name of the certificate that violates the rule: its subject, or its first alternative name.
    package let certificate: String?
    /// The certificate's index in the chain: 0 for the peer's own, 1 for its issuer, and so on.
    package let depth: Int?
    /// Human-readable details.
    package let detail: String?

    init(_ rule: Rule, _ certificate: Certificate? = nil, depth: Int? = nil, detail: String? = nil) {
        self.rule = rule
        self.certificate = certificate?.description
        self.depth = depth
        self.detail = detail
    }

    /// The Secure Transport error number.
    package var status: OSStatus {
        switch rule {
        case .expired: errSSLCertExpired
        case .notYetValid: errSSLCertNotYetValid
        case .noAlternativeName, .nameMismatch, .notAHostName: errSSLHostNameMismatch
        case .weakKey: errSSLATSMinimumKeySizeViolation
        case .weakSignature: errSSLATSCertificateHashAlgorithmViolation
        case .stapleMissing: errSSLBadCertificateStatusResponse
        case .pinMismatch: errSSLATSCertificateTrustViolation
        case .noCertificate, .malformed: errSSLBadCert
        case .unknownIssuer, .selfSigned, .badSignature, .wrongPurpose, .notAnAuthority, .authorityAsLeaf,
            .nameConstraint, .chainTooLong, .policy, .criticalExtension, .revoked, .tooComplex:
            errSSLXCertChainInvalid
        }
    }

    /// How to solve the problem.
    package var advice: String {
        switch rule {
        case .unknownIssuer:
            "configure the server to send its intermediate certificates, install ca-certificates, or add the issuer to the anchors"
        case .selfSigned: "add this certificate to the anchors, or allow it for this host only"
        case .expired: "renew the certificate, and check the clock of this host"
        case .notYetValid: "check the clock of this host"
        case .noAlternativeName, .nameMismatch:
            "connect with a name in the certificate, or get a certificate for this name"
        case .notAHostName: "connect with a valid host name"
        case .weakKey, .weakSignature:
            "get a certificate with SHA-256 and an RSA key of at least 2,048 bits or an EC key"
        case .pinMismatch: "check whether the server's key was renewed, and ship the new pin"
        case .stapleMissing: "enable OCSP stapling on the server"
        case .noCertificate: "configure a certificate on the peer"
        case .badSignature, .wrongPurpose, .notAnAuthority, .authorityAsLeaf, .nameConstraint, .chainTooLong, .policy,
            .criticalExtension, .malformed, .revoked, .tooComplex:
            "get a new certificate"
        }
    }

    package var description: String {
        var text = certificate.map { "certificate \"\($0)\": " } ?? ""
        text += rule.rawValue
        if let detail { text += " (\(detail))" }
        return text + "; " + advice
    }

    /// The verification error that this rule corresponds to in OpenSSL. OpenSSL selects the TLS alert by this error.
    var libraryResult: CInt {
        let result =
            switch rule {
            case .unknownIssuer: CW_V_NO_ISSUER_LOCALLY
            case .selfSigned: CW_V_SELF_SIGNED_LEAF
            case .expired: CW_V_EXPIRED
            case .notYetValid: CW_V_NOT_YET_VALID
            case .wrongPurpose: CW_V_PURPOSE
            case .revoked: CW_V_REVOKED
            case .noAlternativeName, .nameMismatch, .notAHostName: CW_V_HOST_MISMATCH
            case .badSignature, .notAnAuthority, .authorityAsLeaf, .weakKey, .weakSignature, .nameConstraint,
                .chainTooLong, .policy, .criticalExtension, .malformed, .pinMismatch, .stapleMissing, .noCertificate,
                .tooComplex:
                CW_V_REJECTED
            }
        return CInt(result)
    }
}
