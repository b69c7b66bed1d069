public import CausewayTypes

// The numbers of the Security interface that its functions return here.

/// No error.
public let errSecSuccess: OSStatus = 0
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
