public import Dispatch
public import FoundationEssentials

// The names of Core Foundation that signatures of the Security interface mention, as the Swift values that a cast to
// them yields on Apple platforms: `data as CFData`, `[certificate] as CFArray`, `options as CFDictionary`.

/// Bytes.
public typealias CFData = Data
/// Text.
public typealias CFString = String
/// A list of anything.
public typealias CFArray = [Any]
/// Values by name.
public typealias CFDictionary = [String: Any]

/// A time.
public typealias CFDate = Date
/// Any object.
public typealias CFTypeRef = AnyObject
/// Which kind of object something is.
public typealias CFTypeID = UInt

/// Which kind of object something is, of those of the Security interface; 0 for all others.
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

/// The kind of certificates.
public func SecCertificateGetTypeID() -> CFTypeID { 1 }
/// The kind of identities.
public func SecIdentityGetTypeID() -> CFTypeID { 2 }
/// The kind of keys.
public func SecKeyGetTypeID() -> CFTypeID { 3 }
/// The kind of policies.
public func SecPolicyGetTypeID() -> CFTypeID { 4 }
/// The kind of trusts.
public func SecTrustGetTypeID() -> CFTypeID { 5 }

/// Where memory comes from. There is one answer, ``kCFAllocatorDefault``.
public enum CFAllocator: Sendable {}

/// The only allocator.
public let kCFAllocatorDefault: CFAllocator? = nil

/// Why a function of the Security interface failed.
public final class CFError: Error, CustomStringConvertible, Sendable {
    /// The same error as the rest of the API reports it.
    public let underlyingError: NWError

    package init(_ error: NWError) {
        underlyingError = error
    }

    public var description: String { underlyingError.debugDescription }
}

/// What an error says, for a person.
public func CFErrorCopyDescription(_ error: CFError) -> CFString { error.description }

/// The number of an error within its domain: `errSecCertificateExpired`.
public func CFErrorGetCode(_ error: CFError) -> Int { Int(error.status) }

/// Whose numbers those of an error are.
public typealias CFErrorDomain = CFString

/// Whose numbers those of an error are: the Security interface's.
public func CFErrorGetDomain(_ error: CFError) -> CFErrorDomain { "NSOSStatusErrorDomain" }

/// What stands in for `Unmanaged<CFArray>`, which is for classes only: a list that can be taken either way.
public struct UnmanagedArray {
    private let array: CFArray

    init(_ array: CFArray) {
        self.array = array
    }

    /// The list.
    public func takeRetainedValue() -> CFArray { array }

    /// The list.
    public func takeUnretainedValue() -> CFArray { array }
}

/// The imported name of C's object, which programs cast to when they call the `sec_*` functions.
public typealias __DispatchData = DispatchData
/// The same by its name in C.
public typealias dispatch_data_t = DispatchData
