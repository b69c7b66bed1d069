// The module for `import Network`, which replaces Apple's module of that name. Like Apple's module, it also exports
// Dispatch, and Foundation with URL loading. `Causeway` itself does not export these modules.
@_exported public import Causeway
@_exported public import Dispatch
@_exported public import Foundation
@_exported public import FoundationNetworking

/// Bridges ``NWError`` to `NSError`, with its domain, code and user info.
///
/// Counterpart: macOS 13.3, iOS 16.4.
extension NWError: CustomNSError {}

/// Bridges an error of the Security interface to `NSError`.
///
/// On Apple platforms an error of this interface is an `NSError`. Programs test it with
/// `(error as Error as NSError).code == Int(errSecHostNameMismatch)`, for example.
extension CFError: CustomNSError {
    /// The domain of the `NSError`: `NSOSStatusErrorDomain`.
    public static var errorDomain: String { "NSOSStatusErrorDomain" }
    /// The code of the `NSError`: the result code of the Security interface, such as `errSecHostNameMismatch`.
    public var errorCode: Int { CFErrorGetCode(self) }
    /// The user info of the `NSError`: the description, and the underlying error.
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: CFErrorCopyDescription(self), NSUnderlyingErrorKey: underlyingError]
    }
}

/// Another name of `DispatchData`, as in Apple's Dispatch. Programs cast a pre-shared key to this type.
public typealias __DispatchData = DispatchData

/// The C name of `DispatchData`. Programs cast a pre-shared key to this type.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias dispatch_data_t = DispatchData

/// Compares queues by identity, as on Apple platforms: `listener.queue == queue`.
extension DispatchQueue: @retroactive Equatable {
    /// Returns whether both objects represent the same queue.
    public static func == (lhs: DispatchQueue, rhs: DispatchQueue) -> Bool {
        if lhs === rhs { return true }
        guard let left = lhs.underlyingQueue, let right = rhs.underlyingQueue else { return false }
        return left == right
    }

    /// The queue that the Swift object wraps. Two objects can wrap one queue: `DispatchQueue.main` creates a new object on each access.
    private var underlyingQueue: OpaquePointer? {
        Mirror(reflecting: self).children.first?.value as? OpaquePointer
    }
}

// Overloads of Security functions for Foundation objects. On Apple platforms `CFData` and `CFDictionary` bridge to these objects.

/// Creates a certificate from DER. Returns `nil` unless the bytes are exactly one ASN.1 SEQUENCE.
@discardableResult
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: NSData) -> SecCertificate? {
    SecCertificateCreateWithData(allocator, Data(referencing: data))
}

/// Reads the identity in a PKCS #12 file (RFC 7292).
///
/// - Returns: `errSecSuccess`; `errSecAuthFailed` if the password is wrong or missing; `errSecDecode` if the file contains no identity.
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: NSData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    SecPKCS12Import(Data(referencing: pkcs12_data), options, items)
}

/// Reads the identity in a PKCS #12 file (RFC 7292).
///
/// - Returns: `errSecSuccess`; `errSecAuthFailed` if the password is wrong or missing; `errSecDecode` if the file contains no identity.
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: Data, _ options: NSDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    SecPKCS12Import(pkcs12_data, options as? CFDictionary ?? [:], items)
}

/// Reads the identity in a PKCS #12 file (RFC 7292).
///
/// - Returns: `errSecSuccess`; `errSecAuthFailed` if the password is wrong or missing; `errSecDecode` if the file contains no identity.
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: NSData, _ options: NSDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    SecPKCS12Import(Data(referencing: pkcs12_data), options, items)
}
