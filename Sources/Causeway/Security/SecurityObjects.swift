// The object types that the `sec_*` functions use, and functions that convert between these types and the `Sec*` types.

/// A ``SecTrust`` for verify blocks.
///
/// Counterpart: macOS 10.14, iOS 12.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public final class sec_trust_t: Sendable {
    package let trust: SecTrust

    package init(_ trust: SecTrust) {
        self.trust = trust
    }
}

/// A ``SecCertificate`` for `sec_*` functions.
///
/// Counterpart: macOS 10.14, iOS 12.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public final class sec_certificate_t: Sendable {
    package let certificate: SecCertificate

    package init(_ certificate: SecCertificate) {
        self.certificate = certificate
    }
}

/// A ``SecIdentity`` for `sec_*` functions, with the intermediate certificates to send.
///
/// Counterpart: macOS 10.14, iOS 12.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public final class sec_identity_t: Sendable {
    package let identity: SecIdentity
    /// The issuers of the identity's certificate, nearest first, without the certificate itself.
    package let chain: [SecCertificate]

    package init(_ identity: SecIdentity, chain: [SecCertificate] = []) {
        self.identity = identity
        self.chain = chain
    }
}

/// Wraps a trust object. Never returns `nil`.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_trust_create(_ trust: SecTrust) -> sec_trust_t? { sec_trust_t(trust) }

/// Unwraps a trust object. Call `takeRetainedValue()` on the result.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_trust_copy_ref(_ trust: sec_trust_t) -> Unmanaged<SecTrust> { .passRetained(trust.trust) }

/// Wraps an identity. Never returns `nil`.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_identity_create(_ identity: SecIdentity) -> sec_identity_t? { sec_identity_t(identity) }

/// Wraps an identity with the intermediate certificates to send. Returns `nil` if an element of `certificates` is not a
/// ``SecCertificate``.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_identity_create_with_certificates(
    _ identity: SecIdentity, _ certificates: CFArray
) -> sec_identity_t? {
    let chain = certificates.compactMap { $0 as? SecCertificate }
    guard chain.count == certificates.count else { return nil }
    return sec_identity_t(identity, chain: chain.filter { $0 != identity.certificate })
}

/// Calls a closure with each intermediate certificate to send.
///
/// - Returns: `false` if there are no intermediate certificates. The closure is then not called.
///
/// Counterpart: macOS 10.15, iOS 13.
@discardableResult
public func sec_identity_access_certificates(
    _ identity: sec_identity_t, _ handler: @escaping (sec_certificate_t) -> Void
) -> Bool {
    for certificate in identity.chain { handler(sec_certificate_t(certificate)) }
    return !identity.chain.isEmpty
}

/// Unwraps an identity. Call `takeRetainedValue()` on the result.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_identity_copy_ref(_ identity: sec_identity_t) -> Unmanaged<SecIdentity>? {
    .passRetained(identity.identity)
}

/// Returns the intermediate certificates to send; `nil` if there are none.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_identity_copy_certificates_ref(_ identity: sec_identity_t) -> UnmanagedArray? {
    identity.chain.isEmpty ? nil : UnmanagedArray(identity.chain)
}

/// Wraps a certificate. Never returns `nil`.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_certificate_create(_ certificate: SecCertificate) -> sec_certificate_t? {
    sec_certificate_t(certificate)
}

/// Unwraps a certificate. Call `takeRetainedValue()` on the result.
///
/// Counterpart: macOS 10.14, iOS 12.
@discardableResult
public func sec_certificate_copy_ref(_ certificate: sec_certificate_t) -> Unmanaged<SecCertificate> {
    .passRetained(certificate.certificate)
}
