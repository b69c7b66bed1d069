public import Dispatch
public import FoundationEssentials

// The Core Foundation names in the signatures of the Security interface. On Apple platforms programs cast Swift values to these types:
// `data as CFData`, `[certificate] as CFArray`, `options as CFDictionary`. Here each name is the type of the Swift value.

/// A buffer of bytes.
public typealias CFData = Data
/// A string.
public typealias CFString = String
/// An array of any values.
public typealias CFArray = [Any]
/// A dictionary with string keys.
public typealias CFDictionary = [String: Any]

/// A URL.
public typealias CFURL = URL
/// A point in time.
public typealias CFDate = Date
/// Any object.
public typealias CFTypeRef = AnyObject
/// A number that identifies the type of an object.
public typealias CFTypeID = UInt

/// Returns the type number of an object of the Security interface; 0 for all other objects.
public func CFGetTypeID(_ cf: CFTypeRef?) -> CFTypeID {
    switch cf {
    case is SecCertificate: SecCertificateGetTypeID()
    case is SecIdentity: SecIdentityGetTypeID()
    case is SecKey: SecKeyGetTypeID()
    case is SecPolicy: SecPolicyGetTypeID()
    case is SecTrust: SecTrustGetTypeID()
    default: 0
    }
}

/// Returns the type number of ``SecCertificate`` objects.
public func SecCertificateGetTypeID() -> CFTypeID { 1 }
/// Returns the type number of ``SecIdentity`` objects.
public func SecIdentityGetTypeID() -> CFTypeID { 2 }
/// Returns the type number of ``SecKey`` objects.
public func SecKeyGetTypeID() -> CFTypeID { 3 }
/// Returns the type number of ``SecPolicy`` objects.
public func SecPolicyGetTypeID() -> CFTypeID { 4 }
/// Returns the type number of ``SecTrust`` objects.
public func SecTrustGetTypeID() -> CFTypeID { 5 }

/// A memory allocator. The only value is ``kCFAllocatorDefault``.
public enum CFAllocator: Sendable {}

/// The default allocator.
public let kCFAllocatorDefault: CFAllocator? = nil

/// An error from the Security interface or from another interface with Core Foundation names.
public final class CFError: Error, CustomStringConvertible, Sendable {
    /// A domain, a code and a text. They replace the values that are derived from the `NWError`.
    private struct Named: Sendable {
        var domain: CFErrorDomain
        var code: Int
        var text: String
    }

    /// The error as an `NWError`, the error type of the connection API.
    public let underlyingError: NWError
    private let named: Named?

    package init(_ error: NWError) {
        underlyingError = error
        named = nil
    }

    /// Creates an error with its own domain, code and text, instead of those derived from the `NWError`.
    package init(_ error: NWError, domain: CFErrorDomain, code: Int, text: String) {
        underlyingError = error
        named = Named(domain: domain, code: code, text: text)
    }

    /// A human-readable description.
    public var description: String { named?.text ?? underlyingError.debugDescription }

    fileprivate var domain: CFErrorDomain { named?.domain ?? "NSOSStatusErrorDomain" }
    fileprivate var code: Int { named?.code ?? Int(status) }
}

/// Returns a human-readable description of an error.
public func CFErrorCopyDescription(_ error: CFError) -> CFString { error.description }

/// Returns the code of an error within the error domain, such as `errSecCertificateExpired`.
public func CFErrorGetCode(_ error: CFError) -> Int { error.code }

/// The domain of an error code.
public typealias CFErrorDomain = CFString

/// Returns the domain of an error's code. The Security interface has the domain `NSOSStatusErrorDomain`.
public func CFErrorGetDomain(_ error: CFError) -> CFErrorDomain { error.domain }

/// Replaces `Unmanaged<CFArray>`, because `Unmanaged` supports only classes. `takeRetainedValue()` and
/// `takeUnretainedValue()` both return the array.
public struct UnmanagedArray {
    private let array: CFArray

    package init(_ array: CFArray) {
        self.array = array
    }

    /// Returns the array.
    public func takeRetainedValue() -> CFArray { array }

    /// Returns the array.
    public func takeUnretainedValue() -> CFArray { array }
}

/// Replaces `Unmanaged<CFDictionary>`, because `Unmanaged` supports only classes. `takeRetainedValue()` and
/// `takeUnretainedValue()` both return the dictionary.
public struct UnmanagedDictionary {
    private let dictionary: CFDictionary

    package init(_ dictionary: CFDictionary) {
        self.dictionary = dictionary
    }

    /// Returns the dictionary.
    public func takeRetainedValue() -> CFDictionary { dictionary }

    /// Returns the dictionary.
    public func takeUnretainedValue() -> CFDictionary { dictionary }
}

/// The Swift name of the C type `dispatch_data_t`. Programs cast data to this type before they call `sec_*` functions.
public typealias __DispatchData = DispatchData
/// The C name of the dispatch data object.
public typealias dispatch_data_t = DispatchData
