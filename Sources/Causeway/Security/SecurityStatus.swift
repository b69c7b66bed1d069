public import CausewayTypes

// The numbers of the Security interface that its functions return here.

/// No error.
public let errSecSuccess: OSStatus = 0
/// No error, by its name everywhere else.
public let noErr: OSStatus = 0
/// The function is not implemented.
public let errSecUnimplemented: OSStatus = -4
/// A parameter is not valid.
public let errSecParam: OSStatus = -50
/// The password is wrong.
public let errSecAuthFailed: OSStatus = -25293
/// The item was not found.
public let errSecItemNotFound: OSStatus = -25300
/// The bytes cannot be decoded.
public let errSecDecode: OSStatus = -26275
/// The bytes do not match their authentication code.
public let errSecPkcs12VerifyFailure: OSStatus = -25264

/// The item exists already.
public let errSecDuplicateItem: OSStatus = -25299
/// A person would have to be asked, which is not allowed.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// The program lacks a right that it would need.
public let errSecMissingEntitlement: OSStatus = -34018
/// A person declined.
public let errSecUserCanceled: OSStatus = -128
/// There is no memory.
public let errSecAllocate: OSStatus = -108
/// The format of the bytes is not known.
public let errSecUnknownFormat: OSStatus = -25257
/// A password is needed.
public let errSecPassphraseRequired: OSStatus = -25260
/// The interface failed within.
public let errSecInternalError: OSStatus = -26276

/// The certificate is not trusted.
public let errSecNotTrusted: OSStatus = -67843
/// An intermediate certificate is missing.
public let errSecCreateChainFailed: OSStatus = -25318
/// The certificate has expired.
public let errSecCertificateExpired: OSStatus = -67818
/// The certificate is not valid yet.
public let errSecCertificateNotValidYet: OSStatus = -67819
/// The certificate has been revoked.
public let errSecCertificateRevoked: OSStatus = -67820
/// The certificate is for other hosts.
public let errSecHostNameMismatch: OSStatus = -67602
/// The certificate is for another purpose.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67609
/// The authority may not sign.
public let errSecInvalidCertAuthority: OSStatus = -67826
/// The certificate was refused by a rule of the program's.
public let errSecVerifyActionFailed: OSStatus = -67825
/// The certificate stands for an authority, and is used for a host.
public let errSecCertificateIsCA: OSStatus = -67902

/// What the numbers above mean.
let securityStatusTexts: [OSStatus: String] = [
    errSecSuccess: "no error", errSecUnimplemented: "not implemented", errSecParam: "a parameter is not valid",
    errSecAuthFailed: "the password is wrong", errSecItemNotFound: "the item was not found",
    errSecDecode: "it cannot be decoded", errSecPkcs12VerifyFailure: "the authentication code does not match",
    errSecDuplicateItem: "the item exists already", errSecInteractionNotAllowed: "nobody may be asked",
    errSecMissingEntitlement: "a right is missing", errSecUserCanceled: "a person declined",
    errSecAllocate: "there is no memory", errSecUnknownFormat: "the format is not known",
    errSecPassphraseRequired: "a password is needed", errSecInternalError: "internal error",
    errSecNotTrusted: "the certificate is not trusted",
    errSecCreateChainFailed: "an intermediate certificate is missing",
    errSecCertificateExpired: "the certificate has expired",
    errSecCertificateNotValidYet: "the certificate is not valid yet",
    errSecCertificateRevoked: "the certificate has been revoked",
    errSecHostNameMismatch: "the certificate is for other hosts",
    errSecInvalidExtendedKeyUsage: "the certificate is for another purpose",
    errSecInvalidCertAuthority: "the authority may not sign",
    errSecVerifyActionFailed: "the certificate was refused", errSecCertificateIsCA: "the certificate is an authority's",
]

extension CFError {
    /// The number among those of the Security interface. TLS has numbers of its own for the same faults.
    var status: OSStatus {
        switch underlyingError {
        case .tls(errSSLCertExpired): errSecCertificateExpired
        case .tls(errSSLCertNotYetValid): errSecCertificateNotValidYet
        case .tls(errSSLHostNameMismatch): errSecHostNameMismatch
        case .tls(errSSLBadCert): errSecDecode
        case .tls: errSecNotTrusted
        case .posix(.ENOTSUP): errSecUnimplemented
        case .posix, .dns, .wifiAware: errSecInternalError
        }
    }
}

/// The key of the kind of key in a key's attributes.
public let kSecAttrKeyType: CFString = "type"
/// RSA.
public let kSecAttrKeyTypeRSA: CFString = "42"
/// A curve over a prime field.
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// The same by its older name.
public let kSecAttrKeyTypeEC: CFString = "73"
/// The key of the size, in bits, in a key's attributes.
public let kSecAttrKeySizeInBits: CFString = "bsiz"
/// The key of the half of the pair in a key's attributes.
public let kSecAttrKeyClass: CFString = "kcls"
/// The public half.
public let kSecAttrKeyClassPublic: CFString = "0"
/// The private half.
public let kSecAttrKeyClassPrivate: CFString = "1"

/// Whether ``SecPKCS12Import(_:_:_:)`` keeps the items away from the keychain. There is none here.
public let kSecImportToMemoryOnly: CFString = "memory"
/// The key of the password in the options of ``SecPKCS12Import(_:_:_:)``.
public let kSecImportExportPassphrase: CFString = "passphrase"
/// The key of the label in an imported item.
public let kSecImportItemLabel: CFString = "label"
/// The key of the key's identifier in an imported item.
public let kSecImportItemKeyID: CFString = "keyid"
/// The key of the trust in an imported item.
public let kSecImportItemTrust: CFString = "trust"
/// The key of the certificates in an imported item.
public let kSecImportItemCertChain: CFString = "chain"
/// The key of the identity in an imported item.
public let kSecImportItemIdentity: CFString = "identity"
