// The drop-in for sources that say `import Network`. Apple's module brings Foundation and Dispatch into view with it;
// so does this one. `Causeway` itself does not.
@_exported public import Causeway
@_exported public import Dispatch
@_exported public import Foundation
@_exported public import FoundationNetworking

/// The domain, the code and the information dictionary that `NSError` shows are those of ``NWError``.
///
/// Counterpart: macOS 13.3, iOS 16.4.
extension NWError: CustomNSError {}

/// What an `NSError` shows of an error of the Security interface, which is the same object on Apple platforms:
/// `(error as Error as NSError).code == Int(errSecHostNameMismatch)`.
extension CFError: CustomNSError {
    public static var errorDomain: String { "NSOSStatusErrorDomain" }
    public var errorCode: Int { CFErrorGetCode(self) }
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: CFErrorCopyDescription(self), NSUnderlyingErrorKey: underlyingError]
    }
}

/// The type that pre-shared-key programs cast a `DispatchData` to.
public typealias __DispatchData = DispatchData

/// The type that pre-shared-key programs cast a `DispatchData` to.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias dispatch_data_t = DispatchData

/// Queues compare by identity, as they do on Apple platforms: `listener.queue == queue`.
extension DispatchQueue: @retroactive Equatable {
    public static func == (lhs: DispatchQueue, rhs: DispatchQueue) -> Bool {
        if lhs === rhs { return true }
        guard let left = lhs.underlyingQueue, let right = rhs.underlyingQueue else { return false }
        return left == right
    }

    /// The queue inside the Swift object: `DispatchQueue.main` makes a new object on each access.
    private var underlyingQueue: OpaquePointer? {
        Mirror(reflecting: self).children.first?.value as? OpaquePointer
    }
}

// FoundationNetworking has types of its own by these names, with which nothing can be done here. A name that this module declares stands
// for itself, and hides what it only passes on.

/// A version of TLS or DTLS, by its number on the wire.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias tls_protocol_version_t = Causeway.tls_protocol_version_t

/// A TLS cipher suite, by its number in IANA's registry.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias tls_ciphersuite_t = Causeway.tls_ciphersuite_t

// What the Security interface takes as `CFData` and `CFDictionary` may be Foundation's objects as well, as they may where they bridge.

/// Makes a certificate from DER. `nil` if the bytes are not one ASN.1 SEQUENCE and nothing else.
@discardableResult
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: NSData) -> SecCertificate? {
    SecCertificateCreateWithData(allocator, Data(referencing: data))
}

/// Reads the identity out of a PKCS #12 file (RFC 7292).
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: NSData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    SecPKCS12Import(Data(referencing: pkcs12_data), options, items)
}

/// Reads the identity out of a PKCS #12 file (RFC 7292).
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: Data, _ options: NSDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    SecPKCS12Import(pkcs12_data, options as? CFDictionary ?? [:], items)
}

/// Reads the identity out of a PKCS #12 file (RFC 7292).
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: NSData, _ options: NSDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    SecPKCS12Import(Data(referencing: pkcs12_data), options, items)
}
