internal import CausewayTLS
public import FoundationEssentials

// What pins are made of: the public key of a certificate, and its bytes.

/// The public key of a certificate; `nil` for what is no certificate.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
    certificate.read().map { SecKey(.encoded(Data($0.subjectPublicKeyInfo))) }
}

/// The public key of the peer's own certificate. Nothing is judged.
///
/// Counterpart: macOS 11, iOS 14.
@discardableResult
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? {
    trust.values.certificates.first.flatMap { SecCertificateCopyKey($0) }
}

/// The same by its older name.
///
/// Counterpart: macOS 10.7, iOS 2.
@discardableResult
public func SecTrustCopyPublicKey(_ trust: SecTrust) -> SecKey? { SecTrustCopyKey(trust) }

/// The public key that belongs to a key: itself if it is one, that of the certificate for the key of an identity.
///
/// Counterpart: macOS 10.12, iOS 10.
@discardableResult
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
    key.publicInfo.map { SecKey(.encoded(Data($0.der))) }
}

/// The bytes of a key: RSAPublicKey or RSAPrivateKey in DER (RFC 8017 §A.1) for RSA, the uncompressed point, with the private number
/// behind it, for curves (ANSI X9.63).
///
/// - Returns: `nil`, with `errSecUnimplemented`, for keys of other kinds.
///
/// Counterpart: macOS 10.12, iOS 10.
@discardableResult
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    if let (info, _) = key.publicInfo {
        let bytes = key.identity.map { info.bare(privateKey: $0.privateKeyDER) } ?? info.bytes
        if let bytes, info.algorithm != .other { return Data(bytes) }
    }
    error?.pointee = .passRetained(CFError(.posix(.ENOTSUP)))
    return nil
}

/// What a key is: ``kSecAttrKeyType``, ``kSecAttrKeySizeInBits``, ``kSecAttrKeyClass``. `nil` for keys of unknown kinds.
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
        kSecAttrKeyClass: key.identity == nil ? kSecAttrKeyClassPublic : kSecAttrKeyClassPrivate,
    ]
}

/// Bytes of a block of the key: of the modulus, or of a number of the curve. 0 for keys of unknown kinds.
///
/// Counterpart: macOS 10.6, iOS 2.
@discardableResult
public func SecKeyGetBlockSize(_ key: SecKey) -> Int {
    key.publicInfo.map { ($0.info.bitCount + 7) / 8 } ?? 0
}

/// A word for a person: the common name, else the whole subject. `nil` for what is no certificate.
///
/// Counterpart: macOS 10.6, iOS 2.
@discardableResult
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.read().map { $0.commonName ?? $0.description }
}

/// Gives the innermost common name of the subject, or `nil` if it has none.
///
/// - Returns: ``errSecDecode`` for what is no certificate.
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

/// The serial number, most significant byte first.
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
    /// The identity whose private key this is; `nil` for public keys.
    fileprivate var identity: TLSIdentity? {
        if case .engine(let material) = material { material as? TLSIdentity } else { nil }
    }

    /// The public half; `nil` for what is none.
    fileprivate var publicInfo: (info: PublicKeyInfo, der: [UInt8])? {
        let der =
            switch material {
            case .encoded(let data): [UInt8](data)
            case .engine: identity?.certificates.first?.subjectPublicKeyInfo ?? []
            }
        return PublicKeyInfo(der).map { ($0, der) }
    }
}

/// Keys are equal if they are the same half of the same pair, wherever they come from: pins are compared so.
extension SecKey: Hashable {
    public static func == (lhs: SecKey, rhs: SecKey) -> Bool {
        if lhs === rhs { return true }
        guard let likeness = lhs.likeness else { return false }
        return likeness == rhs.likeness
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(likeness) }

    private struct Likeness: Hashable {
        var isPrivate: Bool
        var bytes: Data
    }

    /// `nil` for what is only known to be itself.
    private var likeness: Likeness? {
        switch material {
        case .encoded(let data): Likeness(isPrivate: false, bytes: data)
        case .engine: publicInfo.map { Likeness(isPrivate: true, bytes: Data($0.der)) }
        }
    }
}
