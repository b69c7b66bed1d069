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
/// The octets cannot be decoded.
public let errSecDecode: OSStatus = -26275
/// The octets do not match their authentication code.
public let errSecPkcs12VerifyFailure: OSStatus = -25264

/// The certificate is not trusted.
public let errSecNotTrusted: OSStatus = -67843

/// What the numbers above mean.
let securityStatusTexts: [OSStatus: String] = [
    errSecSuccess: "no error", errSecUnimplemented: "not implemented", errSecParam: "a parameter is not valid",
    errSecAuthFailed: "the password is wrong", errSecItemNotFound: "the item was not found",
    errSecDecode: "it cannot be decoded", errSecPkcs12VerifyFailure: "the authentication code does not match",
    errSecNotTrusted: "the certificate is not trusted",
]

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
