package import CausewayTLS
public import CausewayTypes
public import FoundationEssentials

extension NWProtocolTLS.Options {
    /// Whom to trust, besides or instead of the authorities of this system. Only on Linux, which has no keychain.
    ///
    /// None of it switches a rule off for everybody: an exception is for one certificate from one host.
    public struct TrustRules: Hashable, Sendable {
        /// One certificate that is accepted from one host whatever is wrong with it: a device that signed its own, for example.
        public struct Exception: Hashable, Sendable {
            public var host: NWEndpoint.Host
            /// The peer's own.
            public var certificate: SecCertificate

            public init(host: NWEndpoint.Host, certificate: SecCertificate) {
                self.host = host
                self.certificate = certificate
            }
        }

        /// Certificates to trust: authorities, or a peer's own.
        public var anchors: [SecCertificate] = []
        /// Whether the authorities of this system count as well. With `false` and no anchors nobody is trusted.
        public var includesSystemAnchors = true
        /// SHA-256 of the SubjectPublicKeyInfo of keys (RFC 7469 §2.4). If there are any, a chain must hold one of them, after
        /// everything else was checked. Have one more than is in use, or a lost key locks everybody out.
        public var pinnedKeys: Set<Data> = []
        public var exceptions: [Exception] = []

        /// What every connection does by default.
        public init() {}

        /// The certificates of a file in PEM, for ``anchors``.
        ///
        /// - Throws: `.posix` with `ENOENT` when it cannot be read, `.tls` with `errSSLBadCert` when it has none.
        public static func certificates(inFile path: String) throws(NWError) -> [SecCertificate] {
            guard let contents = FileManager.default.contents(atPath: path) else { throw .posix(.ENOENT) }
            do throws(TLSFailure) {
                return try Certificate.all(pem: [UInt8](contents)).map { SecCertificate(data: Data($0.der)) }
            } catch {
                throw error.failure.networkError
            }
        }
    }

    /// Whom to trust. A verify block that asks for the usual judgement gets it by these rules.
    public var trustRules: TrustRules {
        get { securityProtocolOptions.values.trustRules }
        set { securityProtocolOptions.update { $0.trustRules = newValue } }
    }
}

extension NWProtocolTLS.Options.TrustRules {
    /// The same for the engine.
    ///
    /// - Throws: `.tls` with `errSSLBadCert` for a certificate that cannot be read, with `errSSLBadConfiguration` for an exception
    ///   whose host no certificate could name; `.posix` with `EINVAL` for a pin that is no SHA-256.
    package func settings() throws(NWError) -> TrustSettings {
        var settings = TrustSettings()
        settings.includesSystemAnchors = includesSystemAnchors
        do throws(TLSFailure) {
            settings.anchors = try anchors.map { anchor throws(TLSFailure) in try Certificate(der: [UInt8](anchor.data))
            }
            for exception in exceptions {
                let certificate = try Certificate(der: [UInt8](exception.certificate.data))
                guard let host = ReferenceName(exception.host) else {
                    throw TLSFailure(.badConfiguration, "no certificate can name \(exception.host)")
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
