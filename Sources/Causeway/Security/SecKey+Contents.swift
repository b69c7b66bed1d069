internal import CausewayTLS
public import FoundationEssentials

// Access to public keys and their bytes, for certificate pinning.

/// Returns the public key of a certificate; `nil` if the certificate is malformed.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    certificate.read().map { SecKey(.publicKey(Data($0.subjectPublicKeyInfo))) }
}

/// Returns the public key of the peer's certificate, which is the first certificate of the chain. Does not validate the
/// certificate.
///
/// Counterpart: macOS 11, iOS 14.
@discardableResult
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? {
    trust.values.certificates.first.flatMap { SecCertificateCopyKey($0) }
}

/// The older name of ``SecTrustCopyKey(_:)``.
///
/// Counterpart: macOS 10.7, iOS 2.
@discardableResult
public func SecTrustCopyPublicKey(_ trust: SecTrust) -> SecKey? { SecTrustCopyKey(trust) }

/// Returns the public key of a private key. For a public key, returns an equal key.
///
/// Counterpart: macOS 10.12, iOS 10.
@discardableResult
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
    key.publicInfo.map { SecKey(.publicKey(Data($0.der))) }
}

/// Returns the bytes of a key. RSA: RSAPublicKey or RSAPrivateKey in DER (RFC 8017 §A.1). Elliptic curves: the uncompressed point, followed
/// by the private value for a private key (ANSI X9.63).
///
/// - Returns: `nil`, with `errSecUnimplemented` (`ENOTSUP`), for other types of keys.
///
/// Counterpart: macOS 10.12, iOS 10.
@discardableResult
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    if let (info, _) = key.publicInfo {
        let bytes = key.privateKey.map { info.bare(privateKey: $0.der) } ?? info.bytes
        if let bytes, info.algorithm != .other { return Data(bytes) }
    }
    error?.pointee = .passRetained(CFError(.posix(.ENOTSUP)))
    return nil
}

/// Returns the attributes of a key: ``kSecAttrKeyType``, ``kSecAttrKeySizeInBits``, ``kSecAttrKeyClass``. `nil` for unknown types of keys.
///
/// Counterpart: macOS 10.12, iOS 10.
@discardableResult
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    guard let (info, _) = key.publicInfo else { return nil }
    let type =
        switch info.algorithm {
        case .rsa: kSecAttrKeyTypeRSA
        case .ellipticCurve: kSecAttrKeyTypeECSECPrimeRandom
        case .other: ""
        }
    guard !type.isEmpty else { return nil }
    return [
        kSecAttrKeyType: type, kSecAttrKeySizeInBits: info.bitCount,
        kSecAttrKeyClass: key.privateKey == nil ? kSecAttrKeyClassPublic : kSecAttrKeyClassPrivate,
    ]
}

/// Returns the block size of a key in bytes: the size of the modulus (RSA), or of a coordinate (elliptic curves). 0 for unknown types of
/// keys.
///
/// Counterpart: macOS 10.6, iOS 2.
@discardableResult
public func SecKeyGetBlockSize(_ key: SecKey) -> Int {
    key.publicInfo.map { ($0.info.bitCount + 7) / 8 } ?? 0
}

/// Returns a short human-readable description of a certificate: the common name, or the whole subject if there is no
/// common name. `nil` if the certificate is malformed.
///
/// Counterpart: macOS 10.6, iOS 2.
@discardableResult
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.read().map { $0.commonName ?? $0.description }
}

/// Stores the most specific common name of a certificate's subject in `commonName`; `nil` if there is none.
///
/// - Returns: `errSecSuccess`, or ``errSecDecode`` if the certificate is malformed.
///
/// Counterpart: macOS 10.5, iOS 10.3.
@discardableResult
public func SecCertificateCopyCommonName(
    _ certificate: SecCertificate, _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
    guard let read = certificate.read() else { return errSecDecode }
    commonName.pointee = read.commonName
    return errSecSuccess
}

/// Returns a certificate's serial number, most significant byte first.
///
/// Counterpart: macOS 10.13, iOS 11.
@discardableResult
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    if let read = certificate.read() { return Data(read.serialNumber) }
    error?.pointee = .passRetained(CFError(.tls(errSSLBadCert)))
    return nil
}

extension SecCertificate {
    fileprivate func read() -> Certificate? { try? Certificate(der: [UInt8](data)) }
}

extension SecKey {
    /// The private key as an object of the TLS engine; `nil` for public keys.
    var privateKey: PrivateKey? {
        guard case .engine(let material) = material else { return nil }
        return material as? PrivateKey ?? (material as? TLSIdentity)?.privateKey
    }

    /// The public key; `nil` if the key is malformed.
    var publicInfo: (info: PublicKeyInfo, der: [UInt8])? {
        let der =
            switch material {
            case .publicKey(let data): [UInt8](data)
            case .engine: privateKey?.publicKeyInfo ?? []
            }
        return PublicKeyInfo(der).map { ($0, der) }
    }
}

/// Two keys are equal if both are public or both are private, and if they have the same value. Their origin does not
/// matter. Certificate pinning needs this comparison.
extension SecKey: Hashable {
    /// Whether both keys are public, or both private, and have the same value. Malformed public keys are compared by
    /// their bytes. A malformed private key equals only itself.
    public static func == (lhs: SecKey, rhs: SecKey) -> Bool {
        if lhs === rhs { return true }
        guard let likeness = lhs.likeness else { return false }
        return likeness == rhs.likeness
    }

    /// Hashes the kind and the value of the key.
    public func hash(into hasher: inout Hasher) { hasher.combine(likeness) }

    private struct Likeness: Hashable {
        var isPrivate: Bool
        var bytes: Data
    }

    /// The values that equality compares; `nil` for a malformed private key, which equals only itself.
    private var likeness: Likeness? {
        switch material {
        case .publicKey(let data):
            Likeness(isPrivate: false, bytes: Data(PublicKeyInfo.canonical([UInt8](data))))
        case .engine: publicInfo.map { Likeness(isPrivate: true, bytes: Data($0.der)) }
        }
    }
}
