internal import CausewayTLS
public import FoundationEssentials

/// Generates a private key in memory. ``SecKeyCopyPublicKey(_:)`` returns the public key.
///
/// - Parameters:
///   - parameters: ``kSecAttrKeyType`` and ``kSecAttrKeySizeInBits``: RSA with 1,024 to 4,096 bits, or a curve with
///     256, 384 or 521 bits. There is no keychain and no Secure Enclave, so ``kSecAttrIsPermanent`` must not be `true`,
///     and ``kSecAttrTokenID`` must be absent. Other attributes have no effect.
///   - error: `errSecParam` for missing or unsupported attributes; `errSecUnimplemented` for a key that would be stored
///     outside of the program's memory.
/// - Returns: The key; `nil` on an error. Generating an RSA key can take several seconds.
///
/// Counterpart: macOS 10.12, iOS 10.
@discardableResult
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    makeKey(error) { () throws(CFError) in
        let request = try KeyRequest(parameters)
        guard let bitCount = request.bitCount else {
            throw CFError(errSecParam, "kSecAttrKeySizeInBits is missing or not a number")
        }
        if request.algorithm == .rsa {
            guard 1_024...4_096 ~= bitCount else {
                throw CFError(errSecParam, "RSA keys have 1,024 to 4,096 bits, not \(bitCount)")
            }
            return try SecKey(engine { () throws(TLSFailure) in try PrivateKey(generatingRSA: bitCount) })
        }
        guard let curve = NamedCurve.allCases.first(where: { $0.bitCount == bitCount }) else {
            throw CFError(errSecParam, "keys on a curve have 256, 384 or 521 bits, not \(bitCount)")
        }
        return try SecKey(engine { () throws(TLSFailure) in try PrivateKey(generating: curve) })
    }
}

/// Creates a key from the bytes that ``SecKeyCopyExternalRepresentation(_:_:)`` returns.
///
/// - Parameters:
///   - keyData: RSA: RSAPublicKey or RSAPrivateKey in DER (RFC 8017 §A.1), with 1,024 to 8,192 bits. Elliptic curves: the uncompressed
///     point on P-256, P-384 or P-521, followed by the private value for a private key (ANSI X9.63).
///   - attributes: ``kSecAttrKeyType`` and ``kSecAttrKeyClass``. The bytes determine the size:
///     ``kSecAttrKeySizeInBits`` has no effect. Attributes that would store the key are errors, as in
///     ``SecKeyCreateRandomKey(_:_:)``.
///   - error: `errSecParam` for malformed bytes, for key components that do not match, and for wrong attributes;
///     `errSecUnimplemented` for a key that would be stored outside of the program's memory.
/// - Returns: `nil` on an error.
///
/// Counterpart: macOS 10.12, iOS 10.
@discardableResult
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    let bytes = [UInt8](keyData)
    return makeKey(error) { () throws(CFError) in
        let request = try KeyRequest(attributes)
        switch (try request.isPrivate, request.algorithm == .rsa) {
        case (true, true): return try SecKey(engine { () throws(TLSFailure) in try PrivateKey(rsa: bytes) })
        case (true, false): return try SecKey(engine { () throws(TLSFailure) in try PrivateKey(x963: bytes) })
        case (false, true): return try publicKey(PublicKeyInfo.encode(rsa: bytes))
        case (false, false):
            guard bytes.first == 4,
                let curve = NamedCurve.allCases.first(where: { 1 + 2 * $0.byteCount == bytes.count })
            else { throw CFError(errSecParam, "not an uncompressed point on P-256, P-384 or P-521") }
            return try publicKey(PublicKeyInfo.encode(point: bytes, curve: curve))
        }
    }
}

private func publicKey(_ der: [UInt8]) throws(CFError) -> SecKey {
    _ = try engine { () throws(TLSFailure) in try PublicKey(exactly: der) }
    return SecKey(.publicKey(Data(der)))
}

/// Runs a key operation of the TLS engine and converts its errors. An error for a malformed key becomes `errSecParam`,
/// as on Apple platforms.
private func engine<R>(_ body: () throws(TLSFailure) -> R) throws(CFError) -> R {
    do throws(TLSFailure) {
        return try body()
    } catch {
        throw CFError(error.code == .badCertificate ? errSecParam : errSecInternalError, error.message)
    }
}

private func makeKey(
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?, _ body: () throws(CFError) -> SecKey
) -> SecKey? {
    do throws(CFError) {
        return try body()
    } catch let failure {
        error?.pointee = .passRetained(failure)
        return nil
    }
}

extension SecKey {
    fileprivate convenience init(_ key: PrivateKey) {
        self.init(.engine(key))
    }
}

/// The attributes of a key to create. Numbers may be strings, as on Apple platforms.
private struct KeyRequest {
    let algorithm: PublicKeyInfo.Algorithm
    let bitCount: Int?
    private let keyClass: String?

    init(_ attributes: CFDictionary) throws(CFError) {
        try Self.refuseStorage(attributes)
        for key in [kSecPrivateKeyAttrs, kSecPublicKeyAttrs] {
            guard let value = attributes[key] else { continue }
            guard let nested = value as? CFDictionary else {
                throw CFError(errSecParam, "the attributes of a key of a pair are not a dictionary")
            }
            try Self.refuseStorage(nested)
        }
        switch attributes[kSecAttrKeyType].map(Self.text) {
        case kSecAttrKeyTypeRSA: algorithm = .rsa
        case kSecAttrKeyTypeECSECPrimeRandom: algorithm = .ellipticCurve
        case nil: throw CFError(errSecParam, "kSecAttrKeyType is missing")
        case let type?: throw CFError(errSecParam, "unsupported kSecAttrKeyType \(type)")
        }
        bitCount = attributes[kSecAttrKeySizeInBits].flatMap { Int(Self.text($0)) }
        keyClass = attributes[kSecAttrKeyClass].map(Self.text)
    }

    var isPrivate: Bool {
        get throws(CFError) {
            switch keyClass {
            case kSecAttrKeyClassPrivate: true
            case kSecAttrKeyClassPublic: false
            default: throw CFError(errSecParam, "kSecAttrKeyClass must be public or private")
            }
        }
    }

    /// Throws an error if the attributes ask to store the key. Without this error, the program would expect a stored
    /// key and could not find it later.
    private static func refuseStorage(_ attributes: CFDictionary) throws(CFError) {
        if let value = attributes[kSecAttrIsPermanent], !["false", "0"].contains(text(value)) {
            throw CFError(
                errSecUnimplemented, "there is no keychain that could store a key: kSecAttrIsPermanent must be false")
        }
        if attributes[kSecAttrTokenID] != nil {
            throw CFError(
                errSecUnimplemented, "there is no Secure Enclave and no other token: remove kSecAttrTokenID")
        }
    }

    private static func text(_ value: Any) -> String { value as? String ?? String(describing: value) }
}
