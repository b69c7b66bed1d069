// The drop-in module for `import Network`. Like Apple's module it also exports Foundation and Dispatch; `Causeway` itself does not.
@_exported public import Causeway
@_exported public import Dispatch
@_exported public import Foundation
@_exported public import FoundationNetworking

/// Bridges ``NWError`` to `NSError`, with its domain, code and user info.
///
/// Counterpart: macOS 13.3, iOS 16.4.
extension NWError: CustomNSError {}

/// Bridges an error of the Security interface to `NSError`. On Apple platforms both are the same object: `(error as Error as NSError).code
/// == Int(errSecHostNameMismatch)`.
extension CFError: CustomNSError {
    public static var errorDomain: String { "NSOSStatusErrorDomain" }
    public var errorCode: Int { CFErrorGetCode(self) }
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: CFErrorCopyDescription(self), NSUnderlyingErrorKey: underlyingError]
    }
}

/// The type to which programs cast a `DispatchData` with a pre-shared key.
public typealias __DispatchData = DispatchData

/// The type to which programs cast a `DispatchData` with a pre-shared key.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias dispatch_data_t = DispatchData

/// Compares queues by identity, as on Apple platforms: `listener.queue == queue`.
extension DispatchQueue: @retroactive Equatable {
    public static func == (lhs: DispatchQueue, rhs: DispatchQueue) -> Bool {
        if lhs === rhs { return true }
        guard let left = lhs.underlyingQueue, let right = rhs.underlyingQueue else { return false }
        return left == right
    }

    /// The queue inside the Swift object. `DispatchQueue.main` creates a new object on each access.
    private var underlyingQueue: OpaquePointer? {
        Mirror(reflecting: self).children.first?.value as? OpaquePointer
    }
}

// FoundationNetworking has its own types with these names, which this library cannot use. A declaration in this module hides the names of
// the modules that it exports.

/// A version of TLS or DTLS, with its number in the protocol.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias tls_protocol_version_t = Causeway.tls_protocol_version_t

/// A TLS cipher suite, with its number in IANA's registry.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias tls_ciphersuite_t = Causeway.tls_ciphersuite_t

// Overloads of Security functions for Foundation objects. On Apple platforms `CFData` and `CFDictionary` bridge to them.

/// Creates a certificate from DER. `nil` if the bytes are not exactly one ASN.1 SEQUENCE.
@discardableResult
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: NSData) -> SecCertificate? {
    SecCertificateCreateWithData(allocator, Data(referencing: data))
}

/// Reads the identity from a PKCS #12 file (RFC 7292).
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: NSData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    SecPKCS12Import(Data(referencing: pkcs12_data), options, items)
}

/// Reads the identity from a PKCS #12 file (RFC 7292).
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: Data, _ options: NSDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    SecPKCS12Import(pkcs12_data, options as? CFDictionary ?? [:], items)
}

/// Reads the identity from a PKCS #12 file (RFC 7292).
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: NSData, _ options: NSDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    SecPKCS12Import(Data(referencing: pkcs12_data), options, items)
}
