internal import CausewaySystem
internal import CausewayTLS
public import CausewayTypes

/// The purpose for which a certificate chain must be valid.
public final class SecPolicy: Hashable, Sendable {
    package enum Purpose: Hashable, Sendable {
        /// Any purpose.
        case basicX509
        /// TLS. `isServer` is `true` for a server's certificate and `false` for a client's; `hostName` is the name that the certificate
        /// must contain.
        case tls(isServer: Bool, hostName: String?)
    }

    package let purpose: Purpose

    package init(_ purpose: Purpose) {
        self.purpose = purpose
    }

    /// Whether both policies have the same purpose.
    public static func == (lhs: SecPolicy, rhs: SecPolicy) -> Bool { lhs.purpose == rhs.purpose }

    /// Hashes the purpose.
    public func hash(into hasher: inout Hasher) { hasher.combine(purpose) }
}

/// A certificate chain with the settings for its evaluation. Two values are equal if they are the same object.
public final class SecTrust: Hashable, Sendable {
    package struct Values: Sendable {
        /// The certificates, leaf first.
        package var certificates: [SecCertificate]
        package var policies: [SecPolicy]
        package var anchors: [SecCertificate]?
        /// Whether to trust the system's anchors too.
        package var trustsSystemAnchors = true
        /// The validation time in seconds since 1970; `nil` for the current time.
        package var time: Int64?
        /// A closure that replaces the usual evaluation of the chain. The closure returns `nil` if the chain is trusted, otherwise the
        /// error.
        package var evaluate: (@Sendable (SecTrust) -> NWError?)?
        /// The validation that the TLS engine requested, and the policy with which it created the trust object. `nil`
        /// if the program created the trust object.
        var original: (question: PeerTrust, policy: SecPolicy)?
        /// The violations that the program accepts.
        package var exceptions: TrustExceptions?

        package init(certificates: [SecCertificate], policies: [SecPolicy]) {
            self.certificates = certificates
            self.policies = policies
        }
    }

    private let storage: LockedValue<Values>

    package init(_ values: Values) {
        storage = LockedValue(values)
    }

    package var values: Values { storage.withLock { $0 } }

    package func update(_ body: @Sendable (inout Values) -> Void) { storage.withLock { body(&$0) } }

    /// Whether both values are the same object.
    public static func == (lhs: SecTrust, rhs: SecTrust) -> Bool { lhs === rhs }

    /// Hashes the identity of the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Creates a policy for TLS: for the certificate of a server with the host name `hostname`, or of a client.
///
/// Without a host name, every name is accepted: the program must identify its peer by other means.
@discardableResult
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    SecPolicy(.tls(isServer: server, hostName: hostname))
}

/// Creates a policy that requires only a valid chain, for any purpose and name.
@discardableResult
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy(.basicX509) }

/// Creates a trust object from one certificate or an array of certificates, leaf first, and one policy or an array of policies.
///
/// - Returns: ``errSecParam`` if an argument has another type.
@discardableResult
public func SecTrustCreateWithCertificates(
    _ certificates: Any, _ policies: Any?, _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    guard let certificates: [SecCertificate] = list(certificates), !certificates.isEmpty,
        let policies: [SecPolicy] = policies.map({ list($0) }) ?? []
    else { return errSecParam }
    trust.pointee = SecTrust(SecTrust.Values(certificates: certificates, policies: policies))
    return errSecSuccess
}

/// Evaluates whether the chain is trusted. A chain that cannot be evaluated is not trusted.
///
/// The chain must satisfy all policies. Without a policy the evaluation fails with `ENOTSUP`. Evaluation takes milliseconds and does no
/// network I/O.
@discardableResult
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    let evaluate = trust.values.evaluate
    let failure = if let evaluate { evaluate(trust) } else { trust.failure() }
    error?.pointee = failure.map { CFError($0) }
    return failure == nil
}

/// Replaces the policies with one policy or an array of policies.
@discardableResult
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: Any) -> OSStatus {
    guard let policies: [SecPolicy] = list(policies) else { return errSecParam }
    trust.update { $0.policies = policies }
    return errSecSuccess
}

/// Sets the only anchors to trust. To trust the system's anchors too, call ``SecTrustSetAnchorCertificatesOnly(_:_:)``
/// with `false` afterwards. If `anchorCertificates` is `nil`, the trust object uses its initial anchors again.
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    guard let anchorCertificates else {
        trust.update { values in
            values.anchors = nil
            values.trustsSystemAnchors = true
        }
        return errSecSuccess
    }
    guard let anchors: [SecCertificate] = list(anchorCertificates) else { return errSecParam }
    trust.update { values in
        values.anchors = anchors
        values.trustsSystemAnchors = false
    }
    return errSecSuccess
}

/// Sets whether to trust only the anchors from ``SecTrustSetAnchorCertificates(_:_:)``, and not the system's anchors.
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    trust.update { $0.trustsSystemAnchors = !anchorCertificatesOnly }
    return errSecSuccess
}

/// Returns the number of certificates in the chain.
@discardableResult
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> Int { trust.values.certificates.count }

/// Returns the certificate at an index of the chain. The leaf has the index 0. The result is `nil` if the index is out of range.
@discardableResult
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ ix: Int) -> SecCertificate? {
    let certificates = trust.values.certificates
    return certificates.indices.contains(ix) ? certificates[ix] : nil
}

/// Returns the certificates of the chain, leaf first.
@discardableResult
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { trust.values.certificates }

/// Converts one element or an array of elements to an array; `nil` if a value has another type.
private func list<Element>(_ value: Any) -> [Element]? {
    if let element = value as? Element { return [element] }
    guard let array = value as? [Any] else { return nil }
    let elements = array.compactMap { $0 as? Element }
    return elements.count == array.count ? elements : nil
}
