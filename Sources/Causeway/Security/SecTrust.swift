internal import CausewaySystem
internal import CausewayTLS
public import CausewayTypes

/// What a certificate chain is to be good for.
public final class SecPolicy: Hashable, Sendable {
    package enum Purpose: Hashable, Sendable {
        /// Any.
        case basicX509
        /// TLS: `isServer` tells whose certificate it is, `hostName` what it has to be for.
        case tls(isServer: Bool, hostName: String?)
    }

    package let purpose: Purpose

    package init(_ purpose: Purpose) {
        self.purpose = purpose
    }

    public static func == (lhs: SecPolicy, rhs: SecPolicy) -> Bool { lhs.purpose == rhs.purpose }

    public func hash(into hasher: inout Hasher) { hasher.combine(purpose) }
}

/// A certificate chain, and what is needed to decide whether to trust it. Two are equal if they are one object.
public final class SecTrust: Hashable, Sendable {
    package struct Values: Sendable {
        /// Leaf first.
        package var certificates: [SecCertificate]
        package var policies: [SecPolicy]
        package var anchors: [SecCertificate]?
        /// Whether the system's own anchors count as well.
        package var trustsSystemAnchors = true
        /// The time to judge by, in seconds since 1970; `nil` for now.
        package var time: Int64?
        /// Decides in place of the rules, if set: `nil` for trusted, else why not.
        package var evaluate: (@Sendable (SecTrust) -> NWError?)?
        /// What the TLS engine asks, and the policy that stands for it.
        var original: (question: PeerTrust, policy: SecPolicy)?
        /// What the program overlooks.
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

    public static func == (lhs: SecTrust, rhs: SecTrust) -> Bool { lhs === rhs }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A policy for TLS: for a server's certificate that has to be good for a host name, or for a client's.
///
/// Without a host name any name will do: the program knows its peer by something else.
@discardableResult
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    SecPolicy(.tls(isServer: server, hostName: hostname))
}

/// A policy that only asks for a valid chain, whatever the certificate is for and whoever has it.
@discardableResult
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy(.basicX509) }

/// Makes a trust of one certificate or an array of them, leaf first, and one policy or an array of them.
///
/// - Returns: ``errSecParam`` for arguments that are neither.
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

/// Decides whether to trust. What nothing can decide is not trusted.
///
/// Every policy must hold; without any nothing is trusted, with `ENOTSUP`. Judging takes milliseconds and no network.
@discardableResult
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    let evaluate = trust.values.evaluate
    let failure = if let evaluate { evaluate(trust) } else { trust.failure() }
    error?.pointee = failure.map { CFError($0) }
    return failure == nil
}

/// Replaces the policies: one, or an array of them.
@discardableResult
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: Any) -> OSStatus {
    guard let policies: [SecPolicy] = list(policies) else { return errSecParam }
    trust.update { $0.policies = policies }
    return errSecSuccess
}

/// Sets the only anchors to trust; ``SecTrustSetAnchorCertificatesOnly(_:_:)`` lets the system's in again.
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

/// Whether only the anchors that were set count, and not the system's as well.
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    trust.update { $0.trustsSystemAnchors = !anchorCertificatesOnly }
    return errSecSuccess
}

/// How many certificates the chain has.
@discardableResult
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> Int { trust.values.certificates.count }

/// One certificate of the chain, 0 for the leaf. `nil` beyond the end.
@discardableResult
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ ix: Int) -> SecCertificate? {
    let certificates = trust.values.certificates
    return certificates.indices.contains(ix) ? certificates[ix] : nil
}

/// The certificates of the chain, leaf first.
@discardableResult
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { trust.values.certificates }

/// One element or a list of elements; `nil` if there is anything else among them.
private func list<Element>(_ value: Any) -> [Element]? {
    if let element = value as? Element { return [element] }
    guard let array = value as? [Any] else { return nil }
    let elements = array.compactMap { $0 as? Element }
    return elements.count == array.count ? elements : nil
}
