package import CausewayTLS
public import CausewayTypes
public import FoundationEssentials

extension SecIdentity {
    /// Creates an identity from an identity of the TLS engine.
    package convenience init(_ identity: TLSIdentity) {
        self.init(
            certificate: SecCertificate(data: Data(identity.certificates[0].der)), privateKey: SecKey(.engine(identity))
        )
    }

    /// Reads certificates and a private key from PEM. Only on Linux, which has no keychain.
    ///
    /// - Parameters:
    ///   - pem: The certificate of the key, followed by intermediate certificates to send.
    ///   - key: The private key; `nil` if `pem` contains it too.
    ///   - password: The password of the encrypted key.
    /// - Throws: `.tls` with `errSSLBadCert` if there is no certificate or no key, if they do not match, or if the password is wrong.
    public convenience init(pem: Data, key: Data? = nil, password: String? = nil) throws(NWError) {
        do throws(TLSFailure) {
            self.init(
                try TLSIdentity(certificates: [UInt8](pem), key: [UInt8](key ?? pem), password: password))
        } catch {
            throw error.failure.networkError
        }
    }

    /// Reads certificates and a private key from PEM files. Only on Linux, which has no keychain.
    ///
    /// - Parameters: The paths of the files. Without a path for the key, the certificate file must contain the key.
    /// - Throws: `.posix` with `ENOENT` if a file cannot be read; otherwise the errors of ``init(pem:key:password:)``.
    public convenience init(
        certificateFile: String, keyFile: String? = nil, password: String? = nil
    ) throws(NWError) {
        let certificates = try Self.contents(of: certificateFile)
        let key = try keyFile.map { file throws(NWError) in try Self.contents(of: file) }
        try self.init(pem: certificates, key: key, password: password)
    }

    /// Reads the identity in an archive (PKCS #12, RFC 7292). Only on Linux; portable programs call ``SecPKCS12Import(_:_:_:)``.
    ///
    /// - Throws: `.tls` with `errSSLBadCert` if there is no identity, the password is wrong, or OpenSSL does not support the archive's
    ///   ciphers.
    public convenience init(pkcs12: Data, password: String) throws(NWError) {
        do throws(TLSFailure) {
            self.init(try TLSIdentity(pkcs12: [UInt8](pkcs12), password: password))
        } catch {
            throw error.failure.networkError
        }
    }

    private static func contents(of path: String) throws(NWError) -> Data {
        guard let contents = FileManager.default.contents(atPath: path) else { throw .posix(.ENOENT) }
        return contents
    }
}

extension sec_identity_t {
    /// Returns the identity for the TLS engine.
    ///
    /// - Throws: `.tls` with `errSSLBadCert` if the certificate or the key is malformed, or if they do not match.
    package func engineIdentity() throws(NWError) -> TLSIdentity {
        do throws(TLSFailure) {
            // Compare the certificates before reusing the TLS engine's identity. `SecIdentityCreate` may have combined
            // its key with a different certificate.
            if chain.isEmpty, case .engine(let material) = identity.privateKey.material,
                let made = material as? TLSIdentity,
                made.certificates[0].der.elementsEqual(identity.certificate.data)
            {
                return made
            }
            guard let key = identity.privateKey.privateKey else {
                throw TLSFailure(.badCertificate, "the key is not a private key of this TLS library")
            }
            return try TLSIdentity(derCertificates: certificates, key: key)
        } catch {
            throw error.failure.networkError
        }
    }

    private var certificates: [[UInt8]] { ([identity.certificate] + chain).map { [UInt8]($0.data) } }
}

/// Creates an identity from a certificate and its private key, such as a key of ``SecKeyCreateRandomKey(_:_:)``.
///
/// - Returns: `nil` if the certificate is malformed, or if the key is not the private key of the certificate.
///
/// Counterpart: macOS 10.12, iOS 11.2.
@discardableResult
public func SecIdentityCreate(
    _ allocator: CFAllocator?, _ certificate: SecCertificate, _ privateKey: SecKey
) -> SecIdentity? {
    guard let key = privateKey.privateKey,
        (try? TLSIdentity(derCertificates: [[UInt8](certificate.data)], key: key)) != nil
    else { return nil }
    return SecIdentity(certificate: certificate, privateKey: privateKey)
}

/// Reads the identity in a PKCS #12 file (RFC 7292).
///
/// - Returns: ``errSecSuccess`` and one item with the keys ``kSecImportItemIdentity``, ``kSecImportItemCertChain`` and
///   ``kSecImportItemTrust``; ``errSecAuthFailed`` if the password is wrong or missing; ``errSecDecode`` if there is no identity, or if
///   OpenSSL does not support the ciphers of the file.
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    items.pointee = nil
    let password = options[kSecImportExportPassphrase] as? String ?? ""
    let identity: TLSIdentity
    do {
        identity = try TLSIdentity(pkcs12: [UInt8](pkcs12_data), password: password)
    } catch {
        return error.message.contains("mac verify") ? errSecAuthFailed : errSecDecode
    }
    let chain = identity.certificates.map { SecCertificate(data: Data($0.der)) }
    let trust = SecTrust(.init(certificates: chain, policies: [SecPolicyCreateBasicX509()]))
    let item: CFDictionary = [
        kSecImportItemIdentity: SecIdentity(identity), kSecImportItemCertChain: chain, kSecImportItemTrust: trust,
    ]
    items.pointee = [item]
    return errSecSuccess
}
