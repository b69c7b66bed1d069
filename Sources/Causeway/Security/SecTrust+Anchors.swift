internal import CausewayTLS
public import CausewayTypes
internal import FoundationEssentials

/// Returns the certificates of the system's authorities, which are the default anchors of every trust object.
///
/// Each call reads a few hundred certificates from disk, which takes milliseconds.
///
/// - Parameter anchors: Receives an array of ``SecCertificate``.
/// - Returns: `errSecSuccess`, or `errSecItemNotFound` if no authorities are installed.
///
/// Counterpart: macOS 10.3.
@discardableResult
public func SecTrustCopyAnchorCertificates(_ anchors: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    let found = TrustStore.systemAnchors().map { SecCertificate(data: Data($0)) }
    anchors.pointee = found.isEmpty ? nil : found
    return found.isEmpty ? errSecItemNotFound : errSecSuccess
}

/// Returns the anchors that ``SecTrustSetAnchorCertificates(_:_:)`` set.
///
/// - Parameters:
///   - trust: The trust object.
///   - anchors: Receives an array of ``SecCertificate``, or `nil` if none were set.
/// - Returns: `errSecSuccess`.
///
/// Counterpart: macOS 10.5, iOS 7.
@discardableResult
public func SecTrustCopyCustomAnchorCertificates(
    _ trust: SecTrust, _ anchors: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    anchors.pointee = trust.values.anchors
    return errSecSuccess
}
