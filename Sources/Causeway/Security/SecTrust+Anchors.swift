internal import CausewayTLS
public import CausewayTypes
internal import FoundationEssentials

/// Reads the certificates of this system's authorities, which are the default anchors of every trust.
///
/// They are read from the disk at each call: milliseconds, and some hundred certificates.
///
/// - Parameter anchors: Set to an array of ``SecCertificate``.
/// - Returns: `errSecSuccess`, or `errSecItemNotFound` where no authorities are installed.
///
/// Counterpart: macOS 10.3.
@discardableResult
public func SecTrustCopyAnchorCertificates(_ anchors: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    let found = TrustStore.systemAnchors().map { SecCertificate(data: Data($0)) }
    anchors.pointee = found.isEmpty ? nil : found
    return found.isEmpty ? errSecItemNotFound : errSecSuccess
}

/// Reads the anchors that ``SecTrustSetAnchorCertificates(_:_:)`` has set.
///
/// - Parameters:
///   - trust: The trust to read.
///   - anchors: Set to an array of ``SecCertificate``, or to `nil` if none were set.
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
