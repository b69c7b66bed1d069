public import CausewayTypes
public import FoundationEssentials

/// An encoded certificate (RFC 5280 §4.1).
public final class SecCertificate: Hashable, Sendable {
    /// The certificate in DER.
    package let data: Data

    /// Creates a certificate without parsing it.
    ///
    /// - Parameter data: The certificate in DER.
    package init(data: Data) {
        self.data = data
    }

    /// Whether both certificates have the same DER encoding.
    public static func == (lhs: SecCertificate, rhs: SecCertificate) -> Bool { lhs.data == rhs.data }

    /// Hashes the DER encoding.
    public func hash(into hasher: inout Hasher) { hasher.combine(data) }
}

/// A public key, stored in encoded form, or a private key, stored as an object of the TLS engine.
public final class SecKey: Sendable {
    /// The storage of a key.
    package enum Material: Sendable {
        /// A public key in DER: SubjectPublicKeyInfo (RFC 5280 §4.1).
        case publicKey(Data)
        /// A private key of the TLS engine: `TLSIdentity` or `PrivateKey`.
        case engine(any Sendable)
    }

    package let material: Material

    package init(_ material: Material) {
        self.material = material
    }
}

/// A certificate and its private key.
public final class SecIdentity: Hashable, Sendable {
    package let certificate: SecCertificate
    package let privateKey: SecKey

    /// Creates an identity. The TLS engine checks later whether certificate and key match.
    package init(certificate: SecCertificate, privateKey: SecKey) {
        self.certificate = certificate
        self.privateKey = privateKey
    }

    /// Whether both identities have equal certificates and equal keys.
    public static func == (lhs: SecIdentity, rhs: SecIdentity) -> Bool {
        lhs.certificate == rhs.certificate && lhs.privateKey == rhs.privateKey
    }

    /// Hashes only the certificate, although equality also compares the private keys. Equal identities still get equal
    /// hash values.
    public func hash(into hasher: inout Hasher) { hasher.combine(certificate) }
}

/// Creates a certificate from DER. Returns `nil` unless the bytes are exactly one ASN.1 SEQUENCE.
@discardableResult
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    isOneSequence(data) ? SecCertificate(data: data) : nil
}

/// Returns the certificate in DER.
@discardableResult
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { certificate.data }

/// Returns the certificate of an identity.
@discardableResult
public func SecIdentityCopyCertificate(
    _ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    certificateRef.pointee = identityRef.certificate
    return errSecSuccess
}

/// Returns the private key of an identity.
@discardableResult
public func SecIdentityCopyPrivateKey(
    _ identityRef: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
    privateKeyRef.pointee = identityRef.privateKey
    return errSecSuccess
}

/// Whether the bytes are exactly one SEQUENCE with a matching DER length (X.690 §8.1.3).
private func isOneSequence(_ data: Data) -> Bool {
    let bytes = Array(data.prefix(6))
    guard bytes.count >= 2, bytes[0] == 0x30 else { return false }
    if bytes[1] < 0x80 { return data.count == 2 + Int(bytes[1]) }
    let lengthCount = Int(bytes[1] & 0x7f)
    guard (1...4).contains(lengthCount), bytes.count >= 2 + lengthCount else { return false }
    let length = bytes[2..<(2 + lengthCount)].reduce(0) { $0 << 8 | Int($1) }
    return data.count == 2 + lengthCount + length
}
