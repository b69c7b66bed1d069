package import CausewayTLS
public import CausewayTypes
public import FoundationEssentials

/// Trust settings in addition to, or instead of, the system's authorities. This type exists only on Linux, because
/// Linux has no keychain that could store such settings.
///
/// No setting disables a rule for all peers: an exception applies to one certificate from one host.
public struct TLSTrustRules: Hashable, Sendable {
    /// A certificate that is accepted from one host regardless of any violation, for example the self-signed certificate of a device.
    public struct Exception: Hashable, Sendable {
        /// The host that may use the certificate.
        public var host: NWEndpoint.Host
        /// The peer's own certificate.
        public var certificate: SecCertificate

        /// Creates an exception.
        public init(host: NWEndpoint.Host, certificate: SecCertificate) {
            self.host = host
            self.certificate = certificate
        }
    }

    /// Certificates to trust: certificates of authorities, or the peers' own certificates.
    public var anchors: [SecCertificate] = []
    /// Whether to trust the system's authorities in addition to ``anchors``. If this is `false` and there are no
    /// anchors, no peer is trusted.
    public var includesSystemAnchors = true
    /// SHA-256 digests of SubjectPublicKeyInfo values (RFC 7469 §2.4). If the set is not empty, a valid chain must also contain one of
    /// these keys. Include the digest of a backup key; otherwise the loss of a key locks out all clients.
    public var pinnedKeys: Set<Data> = []
    /// The certificates that are accepted despite any violation. Each exception applies to one certificate from one
    /// host.
    public var exceptions: [Exception] = []

    /// Creates the default settings.
    public init() {}

    /// Reads the certificates in a PEM file, for ``anchors``.
    ///
    /// - Throws: `.posix` with `ENOENT` if the file cannot be read, `.tls` with `errSSLBadCert` if it contains no certificate.
    public static func certificates(inFile path: String) throws(NWError) -> [SecCertificate] {
        guard let contents = FileManager.default.contents(atPath: path) else { throw .posix(.ENOENT) }
        do throws(TLSFailure) {
            return try Certificate.all(pem: [UInt8](contents)).map { SecCertificate(data: Data($0.der)) }
        } catch {
            throw error.failure.networkError
        }
    }
}

extension TLSTrustRules {
    /// Converts these trust rules to settings of the TLS engine.
    ///
    /// - Throws: `.tls` with `errSSLBadCert` if a certificate is malformed. `.tls` with `errSSLBadConfiguration` if a
    ///   host in ``exceptions`` has a name that a certificate cannot contain. `.posix` with `EINVAL` if an element of
    ///   ``pinnedKeys`` is not a SHA-256 digest.
    package func settings() throws(NWError) -> TrustSettings {
        var settings = TrustSettings()
        settings.includesSystemAnchors = includesSystemAnchors
        do throws(TLSFailure) {
            settings.anchors = try anchors.map { anchor throws(TLSFailure) in try Certificate(der: [UInt8](anchor.data))
            }
            for exception in exceptions {
                let certificate = try Certificate(der: [UInt8](exception.certificate.data))
                guard let host = ReferenceName(exception.host) else {
                    throw TLSFailure(.badConfiguration, "a certificate cannot contain the name \(exception.host)")
                }
                settings.exceptions.insert(.init(host: host, fingerprint: certificate.fingerprint))
            }
        } catch {
            throw error.failure.networkError
        }
        guard pinnedKeys.allSatisfy({ $0.count == 32 }) else { throw .posix(.EINVAL) }
        settings.pins = Set(pinnedKeys.map { [UInt8]($0) })
        return settings
    }
}
