internal import CausewayTLS
public import FoundationEssentials

/// Returns the first moment of a certificate's validity period. `nil` if the certificate is malformed.
///
/// Counterpart: macOS 15, iOS 18.
@discardableResult
public func SecCertificateCopyNotValidBeforeDate(_ certificate: SecCertificate) -> CFDate? {
    certificate.validity.map { Date(timeIntervalSince1970: Double($0.start)) }
}

/// Returns the final second of a certificate's validity period. `nil` if the certificate is malformed.
///
/// Counterpart: macOS 15, iOS 18.
@discardableResult
public func SecCertificateCopyNotValidAfterDate(_ certificate: SecCertificate) -> CFDate? {
    certificate.validity.map { Date(timeIntervalSince1970: Double($0.end)) }
}

/// Returns a certificate's validity dates: ``kSecOIDX509V1ValidityNotBefore`` and ``kSecOIDX509V1ValidityNotAfter``.
///
/// Each date is a dictionary with the keys ``kSecPropertyKeyType``, ``kSecPropertyKeyLabel``,
/// ``kSecPropertyKeyLocalizedLabel`` and ``kSecPropertyKeyValue``. The value for ``kSecPropertyKeyValue`` is a
/// `Double`: the seconds since 2001-01-01 (`Date.timeIntervalSinceReferenceDate`).
///
/// - Parameters:
///   - certificate: The certificate to read.
///   - keys: The fields to return; `nil` for all. Unknown keys are ignored.
///   - error: `errSecDecode` if the certificate is malformed, `errSecParam` if an element of `keys` is not a string.
/// - Returns: `nil` on an error.
///
/// Counterpart: macOS 10.7.
@discardableResult
public func SecCertificateCopyValues(
    _ certificate: SecCertificate, _ keys: CFArray?, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFDictionary? {
    let wanted = keys.map { $0.compactMap { $0 as? String } }
    guard wanted?.count == keys?.count else {
        error?.pointee = .passRetained(CFError(errSecParam, "a key of a certificate's field is not a string"))
        return nil
    }
    guard let validity = certificate.validity else {
        error?.pointee = .passRetained(CFError(errSecDecode, "malformed certificate"))
        return nil
    }
    let all: CFDictionary = [
        kSecOIDX509V1ValidityNotBefore: property("Not Valid Before", validity.start),
        kSecOIDX509V1ValidityNotAfter: property("Not Valid After", validity.end),
    ]
    guard let wanted else { return all }
    return all.filter { wanted.contains($0.key) }
}

private func property(_ label: String, _ seconds: Int64) -> CFDictionary {
    [
        kSecPropertyKeyType: kSecPropertyTypeNumber, kSecPropertyKeyLabel: label,
        kSecPropertyKeyLocalizedLabel: label,
        kSecPropertyKeyValue: Date(timeIntervalSince1970: Double(seconds)).timeIntervalSinceReferenceDate,
    ]
}

extension SecCertificate {
    /// The validity period in seconds since 1970; `nil` if the certificate is malformed.
    fileprivate var validity: (start: Int64, end: Int64)? {
        guard let read = try? Certificate(der: [UInt8](data)), read.notBefore != .min, read.notAfter != .min else {
            return nil
        }
        return (read.notBefore, read.notAfter)
    }
}

/// Field key: the start of the validity period.
///
/// Counterpart: macOS 10.7.
public let kSecOIDX509V1ValidityNotBefore: CFString = "2.16.840.1.113741.2.1.1.1.6"
/// Field key: the end of the validity period.
///
/// Counterpart: macOS 10.7.
public let kSecOIDX509V1ValidityNotAfter: CFString = "2.16.840.1.113741.2.1.1.1.7"
/// Property key: the type of the value.
///
/// Counterpart: macOS 10.7.
public let kSecPropertyKeyType: CFString = "type"
/// Property key: the name of the field.
///
/// Counterpart: macOS 10.7.
public let kSecPropertyKeyLabel: CFString = "label"
/// Property key: the name of the field in the user's language. In this library always English.
///
/// Counterpart: macOS 10.7.
public let kSecPropertyKeyLocalizedLabel: CFString = "localized label"
/// Property key: the value.
///
/// Counterpart: macOS 10.7.
public let kSecPropertyKeyValue: CFString = "value"
/// Property type: a number.
///
/// Counterpart: macOS 10.7.
public let kSecPropertyTypeNumber: CFString = "number"
