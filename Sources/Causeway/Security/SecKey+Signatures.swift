internal import CausewayTLS
public import FoundationEssentials

/// Signs data.
///
/// - Parameters:
///   - key: A private key of the algorithm's type.
///   - algorithm: The signature scheme, with its hash function.
///   - dataToSign: The message or the digest, as the algorithm demands. A digest must have its exact length.
///   - error: `errSecParam` if the key does not support the algorithm, or if the length is wrong.
/// - Returns: The signature; `nil` on an error.
///
/// Counterpart: macOS 10.12, iOS 10.
@discardableResult
public func SecKeyCreateSignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    do throws(CFError) {
        let scheme = try key.scheme(algorithm, .sign, dataToSign.count)
        guard let privateKey = key.privateKey else { throw CFError(errSecParam, "not a private key") }
        do throws(TLSFailure) {
            return Data(try scheme.sign([UInt8](dataToSign), privateKey))
        } catch {
            throw CFError(errSecInternalError, error.message)
        }
    } catch let failure {
        error?.pointee = .passRetained(failure)
        return nil
    }
}

/// Verifies a signature.
///
/// - Parameters:
///   - key: A public key of the algorithm's type.
///   - algorithm: The signature scheme, with its hash function.
///   - signedData: The message or the digest, as the algorithm demands. A digest must have its exact length.
///   - signature: The bytes that ``SecKeyCreateSignature(_:_:_:_:)`` returns.
///   - error: ``errSecVerifyFailed`` for a wrong or malformed signature; `errSecParam` if the key does not support the algorithm, or if the
///     length is wrong.
///
/// Counterpart: macOS 10.12, iOS 10.
@discardableResult
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    do throws(CFError) {
        let scheme = try key.scheme(algorithm, .verify, signedData.count)
        let publicKey: PublicKey
        do throws(TLSFailure) {
            publicKey = try PublicKey(publicKeyInfo: key.publicInfo?.der ?? [])
        } catch {
            throw CFError(error.code == .badCertificate ? errSecParam : errSecInternalError, error.message)
        }
        guard scheme.verify([UInt8](signedData), [UInt8](signature), publicKey) else {
            throw CFError(errSecVerifyFailed, "the signature does not match")
        }
        return true
    } catch let failure {
        error?.pointee = .passRetained(failure)
        return false
    }
}

/// Returns whether a key can be used with an algorithm. A private key can sign, a public key can verify, and the
/// algorithm must fit the key's type and size.
///
/// Counterpart: macOS 10.12, iOS 10.
@discardableResult
public func SecKeyIsAlgorithmSupported(
    _ key: SecKey, _ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm
) -> Bool {
    key.supports(algorithm.scheme, operation)
}

extension SecKey {
    fileprivate func supports(_ scheme: SignatureScheme?, _ operation: SecKeyOperationType) -> Bool {
        guard let scheme, let info = publicInfo?.info, info.algorithm == scheme.algorithm,
            scheme.fits(bitCount: info.bitCount)
        else { return false }
        return switch operation {
        case .sign: privateKey != nil
        case .verify: privateKey == nil
        case .encrypt, .decrypt, .keyExchange: false
        }
    }

    /// Returns the TLS engine's signature scheme for an algorithm.
    ///
    /// - Throws: `errSecParam` if this key does not support the algorithm, or if the signed message or digest has the
    ///   wrong length.
    fileprivate func scheme(
        _ algorithm: SecKeyAlgorithm, _ operation: SecKeyOperationType, _ count: Int
    ) throws(CFError) -> SignatureScheme {
        guard let scheme = algorithm.scheme, supports(scheme, operation), let info = publicInfo?.info else {
            let text = "the key does not support \(algorithm.rawValue) to \(operation)"
            throw CFError(errSecParam, text)
        }
        guard scheme.accepts(count, bitCount: info.bitCount) else {
            throw CFError(errSecParam, "wrong input length for \(algorithm.rawValue): \(count) bytes")
        }
        return scheme
    }
}
