public import CausewayTypes

// Security result codes that functions of this library return.

/// No error.
public let errSecSuccess: OSStatus = 0
/// No error. This is the general Mac OS name for success.
public let noErr: OSStatus = 0
/// The function is not implemented.
public let errSecUnimplemented: OSStatus = -4
/// Invalid parameter.
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
/// User interaction would be necessary, but is not allowed.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// The program lacks a required permission.
public let errSecMissingEntitlement: OSStatus = -34018
/// The user cancelled the operation.
public let errSecUserCanceled: OSStatus = -128
/// Memory allocation failed.
public let errSecAllocate: OSStatus = -108
/// Unknown data format.
public let errSecUnknownFormat: OSStatus = -25257
/// A password is required.
public let errSecPassphraseRequired: OSStatus = -25260
/// Internal error.
public let errSecInternalError: OSStatus = -26276

/// The certificate is not trusted.
public let errSecNotTrusted: OSStatus = -67843
/// An intermediate certificate is missing.
public let errSecCreateChainFailed: OSStatus = -25318
/// The certificate has expired.
public let errSecCertificateExpired: OSStatus = -67818
/// The certificate is not valid yet.
public let errSecCertificateNotValidYet: OSStatus = -67819
/// The certificate is revoked.
public let errSecCertificateRevoked: OSStatus = -67820
/// The certificate is not for this host.
public let errSecHostNameMismatch: OSStatus = -67602
/// The certificate is for another purpose.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67609
/// The authority is not allowed to sign certificates.
public let errSecInvalidCertAuthority: OSStatus = -67826
/// The program's own check rejected the certificate.
public let errSecVerifyActionFailed: OSStatus = -67825
/// A host presents the certificate of an authority as its own certificate.
public let errSecCertificateIsCA: OSStatus = -67902
/// The signature is wrong.
public let errSecVerifyFailed: OSStatus = -67808

/// The descriptions of the result codes above.
let securityStatusTexts: [OSStatus: String] = [
    errSecSuccess: "no error", errSecUnimplemented: "not implemented", errSecParam: "invalid parameter",
    errSecAuthFailed: "wrong password", errSecItemNotFound: "the item was not found",
    errSecDecode: "the data cannot be decoded", errSecPkcs12VerifyFailure: "the authentication code does not match",
    errSecDuplicateItem: "the item exists already", errSecInteractionNotAllowed: "user interaction is not allowed",
    errSecMissingEntitlement: "a required permission is missing",
    errSecUserCanceled: "the user cancelled the operation",
    errSecAllocate: "out of memory", errSecUnknownFormat: "unknown data format",
    errSecPassphraseRequired: "a password is required", errSecInternalError: "internal error",
    errSecNotTrusted: "the certificate is not trusted",
    errSecCreateChainFailed: "an intermediate certificate is missing",
    errSecCertificateExpired: "the certificate has expired",
    errSecCertificateNotValidYet: "the certificate is not valid yet",
    errSecCertificateRevoked: "the certificate is revoked",
    errSecHostNameMismatch: "the certificate is not for this host",
    errSecInvalidExtendedKeyUsage: "the certificate is for another purpose",
    errSecInvalidCertAuthority: "the authority is not allowed to sign certificates",
    errSecVerifyActionFailed: "a rule of the program rejected the certificate",
    errSecCertificateIsCA: "a host uses the certificate of an authority",
    errSecVerifyFailed: "the signature does not match",
]

extension CFError {
    /// Creates an error from a result code of the Security interface and a text.
    convenience init(_ status: OSStatus, _ text: String) {
        let underlying: NWError =
            switch status {
            case errSecParam: .posix(.EINVAL)
            case errSecUnimplemented: .posix(.ENOTSUP)
            case errSecDecode: .tls(errSSLBadCert)
            default: .tls(errSSLCrypto)
            }
        self.init(underlying, domain: "NSOSStatusErrorDomain", code: Int(status), text: text)
    }

    /// The result code of the Security interface for this error. It differs from the code in `NWError.tls`.
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

/// Attribute key: the type of the key.
public let kSecAttrKeyType: CFString = "type"
/// Key type: RSA.
public let kSecAttrKeyTypeRSA: CFString = "42"
/// Key type: elliptic curve over a prime field.
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// The older name of ``kSecAttrKeyTypeECSECPrimeRandom``.
public let kSecAttrKeyTypeEC: CFString = "73"
/// Attribute key: the size of the key in bits.
public let kSecAttrKeySizeInBits: CFString = "bsiz"
/// Attribute key: whether the key is public or private.
public let kSecAttrKeyClass: CFString = "kcls"
/// Key class: public key.
public let kSecAttrKeyClassPublic: CFString = "0"
/// Key class: private key.
public let kSecAttrKeyClassPrivate: CFString = "1"
/// Attribute key: whether the keychain stores the key. `true` is an error, because there is no keychain.
///
/// Counterpart: macOS 10.6, iOS 2.
public let kSecAttrIsPermanent: CFString = "perm"
/// Attribute key: the token that stores the key. This attribute is an error, because there are no tokens.
///
/// Counterpart: macOS 10.12, iOS 9.
public let kSecAttrTokenID: CFString = "tkid"
/// Value of ``kSecAttrTokenID``: the Secure Enclave.
///
/// Counterpart: macOS 10.12, iOS 9.
public let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"
/// Attribute key: the key's label in the keychain. This attribute has no effect, because there is no keychain.
///
/// Counterpart: macOS 10.6, iOS 2.
public let kSecAttrLabel: CFString = "labl"
/// Attribute key: the program's tag in the keychain. This attribute has no effect.
///
/// Counterpart: macOS 10.6, iOS 2.
public let kSecAttrApplicationTag: CFString = "atag"
/// Attribute key: a dictionary with the attributes of the private key.
///
/// Counterpart: macOS 10.8, iOS 2.
public let kSecPrivateKeyAttrs: CFString = "private"
/// Attribute key: a dictionary with the attributes of the public key.
///
/// Counterpart: macOS 10.8, iOS 2.
public let kSecPublicKeyAttrs: CFString = "public"

/// Option key: whether ``SecPKCS12Import(_:_:_:)`` keeps the items out of the keychain. No effect, because there is no keychain.
public let kSecImportToMemoryOnly: CFString = "memory"
/// Option key: the password for ``SecPKCS12Import(_:_:_:)``.
public let kSecImportExportPassphrase: CFString = "passphrase"
/// Key in the dictionary of an imported item: the label.
public let kSecImportItemLabel: CFString = "label"
/// Key in the dictionary of an imported item: the identifier of the cryptographic key.
public let kSecImportItemKeyID: CFString = "keyid"
/// Key in the dictionary of an imported item: the trust object.
public let kSecImportItemTrust: CFString = "trust"
/// Key in the dictionary of an imported item: the certificates.
public let kSecImportItemCertChain: CFString = "chain"
/// Key in the dictionary of an imported item: the identity.
public let kSecImportItemIdentity: CFString = "identity"
