internal import CCausewayOpenSSL
package import CausewayTypes

/// The reason why the peer's certificates are not accepted: the certificate, the violated rule, and advice.
package struct TrustFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Rule: String, Hashable, Sendable, CaseIterable {
        case noCertificate = "the peer sent no certificate"
        case unknownIssuer = "its issuer is not trusted here, or an intermediate certificate is missing"
        case selfSigned = "it signed itself and is not trusted here"
        case expired = "it has expired"
        case notYetValid = "it is not valid yet"
        case badSignature = "its signature is wrong"
        case wrongPurpose = "it is not meant for this side of TLS"
        case notAnAuthority = "it signed another certificate and may not"
        case authorityAsLeaf = "it is an authority's certificate and stands for a host"
        case weakKey = "its key is too weak"
        case weakSignature = "its signature uses a digest that is broken"
        case nameConstraint = "a name in it is outside what its issuer may sign"
        case chainTooLong = "the chain is too long"
        case policy = "an authority above it demands a policy that it is not issued under"
        case criticalExtension = "it demands an extension that is not known here"
        case malformed = "it breaks the profile of the Internet (RFC 5280)"
        case noAlternativeName = "it names no host: the extension for alternative names is missing"
        case nameMismatch = "it is for other hosts"
        case notAHostName = "the name that was asked for cannot be in a certificate"
        case pinMismatch = "no key in the chain is among those that are pinned"
        case stapleMissing = "it promises a statement of its status, and none came"
        case revoked = "its issuer has revoked it"
        case tooComplex = "the peer sent more certificates than anyone needs"
    }

    package let rule: Rule
    /// The subject of the certificate that violates the rule.
    package let certificate: String?
    /// 0 for the peer's own certificate, 1 for its issuer, and so on.
    package let depth: Int?
    /// Details for people.
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

    /// The action that can solve the problem.
    package var advice: String {
        switch rule {
        case .unknownIssuer:
            "let the server send its intermediate certificates, install ca-certificates, or add the issuer to the anchors"
        case .selfSigned: "add this certificate to the anchors, or allow it for this host alone"
        case .expired: "renew the certificate, and check this machine's clock"
        case .notYetValid: "check this machine's clock"
        case .noAlternativeName, .nameMismatch: "connect by a name in the certificate, or have one issued for this name"
        case .notAHostName: "connect by a valid host name"
        case .weakKey, .weakSignature:
            "have a certificate issued with an RSA key of 2,048 bits or an EC key, and SHA-256"
        case .pinMismatch: "check whether the server's key was renewed, and ship the new pin"
        case .stapleMissing: "switch stapling on at the server"
        case .noCertificate: "give the peer a certificate"
        case .badSignature, .wrongPurpose, .notAnAuthority, .authorityAsLeaf, .nameConstraint, .chainTooLong, .policy,
            .criticalExtension, .malformed, .revoked, .tooComplex:
            "have the certificate issued anew"
        }
    }

    package var description: String {
        var text = certificate.map { "certificate \"\($0)\": " } ?? ""
        text += rule.rawValue
        if let detail { text += " (\(detail))" }
        return text + "; " + advice
    }

    /// The OpenSSL verification result that selects the matching alert.
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
