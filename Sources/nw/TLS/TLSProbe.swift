import Causeway
import CausewayTLS
import Dispatch
import Synchronization

/// A TLS handshake that accepts every server certificate, to examine the server.
struct TLSProbe: Sendable {
    var target: Target
    var serverName: String?
    var applicationProtocols: [String]
    var rules: NWProtocolTLS.Options.TrustRules
    /// Time limit for each attempt.
    var limit: Duration

    /// The handshake results.
    struct Observation: Sendable {
        /// The certificates in the order in which the server sent them.
        var certificates: [Certificate] = []
        var stapledResponse: [UInt8]?
        var version = ""
        var cipherSuite = ""
        var group: String?
        var applicationProtocol: String?
        /// Whether the probe used an old TLS version or a weak cipher suite. By default, connections do not allow
        /// these.
        var isObsolete = false
        var times = Times()
    }

    /// The step durations; `nil` for a step that was not needed.
    struct Times: Sendable {
        var resolve: Duration?
        var connect: Duration?
        var handshake: Duration?
    }

    /// - Throws: ``CommandFailure`` if no TLS connection is established.
    func run() async throws -> Observation {
        do {
            return try await attempt(isObsolete: false)
        } catch let failure as NWError where Self.isForWantOfCommonGround(failure) {
            // Try again with obsolete TLS versions and cipher suites, because the server may support only these. This
            // is safe: only the certificates are read, and no data is sent.
            guard let observation = try? await attempt(isObsolete: true) else { throw self.failure(failure) }
            return observation
        } catch let error as NWError {
            throw failure(error)
        }
    }

    private func failure(_ error: NWError) -> CommandFailure {
        CommandFailure("no TLS connection to \(target.endpoint.label)", error)
    }

    private static func isForWantOfCommonGround(_ error: NWError) -> Bool {
        guard case .tls(let status) = error else { return false }
        return [
            errSSLPeerProtocolVersion, errSSLNegotiation, errSSLPeerHandshakeFail, errSSLPeerInsufficientSecurity,
            errSSLProtocol, errSSLClosedAbort,
        ].contains(status)
    }

    private func attempt(isObsolete: Bool) async throws -> Observation {
        let seen = Mutex(Observation())
        let connection = NWConnection(
            to: target.endpoint,
            using: parameters(isObsolete) { certificates in
                seen.withLock { $0.certificates = certificates }
            })
        let clock = ContinuousClock()
        let start = clock.now
        defer { connection.cancel() }
        do {
            try await withDeadline(limit, onExpiry: { connection.cancel() }) { try await connection.open() }
        } catch is TimedOut {
            throw CommandFailure("no TLS connection to \(target.endpoint.label): timed out")
        }
        let total = clock.now - start
        var observation = seen.withLock { $0 }
        observation.isObsolete = isObsolete
        if let metadata = connection.metadata(definition: NWProtocolTLS.definition) as? NWProtocolTLS.Metadata {
            observation.read(metadata.securityProtocolMetadata.values)
        }
        observation.times = await times(of: connection, total: total)
        return observation
    }

    private func parameters(_ isObsolete: Bool, certificates: @escaping @Sendable ([Certificate]) -> Void)
        -> NWParameters
    {
        let options = NWProtocolTLS.Options()
        let security = options.securityProtocolOptions
        if let serverName { sec_protocol_options_set_tls_server_name(security, serverName) }
        for name in applicationProtocols { sec_protocol_options_add_tls_application_protocol(security, name) }
        // Turn off session resumption. In a resumed session, the server does not send its certificates.
        sec_protocol_options_set_tls_resumption_enabled(security, false)
        sec_protocol_options_set_tls_ocsp_enabled(security, true)
        if isObsolete {
            sec_protocol_options_set_min_tls_protocol_version(security, .TLSv10)
            for group: tls_ciphersuite_group_t in [.default, .compatibility, .legacy] {
                sec_protocol_options_append_tls_ciphersuite_group(security, group)
            }
        }
        sec_protocol_options_set_verify_block(
            security,
            { _, trust, complete in
                let trust = sec_trust_copy_ref(trust).takeRetainedValue()
                let chain = (SecTrustCopyCertificateChain(trust) as? [SecCertificate]) ?? []
                certificates(chain.compactMap { try? Certificate(der: [UInt8](SecCertificateCopyData($0))) })
                // Accept every peer here. This is safe: the program sends no data, and it validates the certificates
                // after the handshake.
                complete(true)
            }, DispatchQueue(label: "nw.tls"))
        return NWParameters(tls: options)
    }

    private func times(of connection: NWConnection, total: Duration) async -> Times {
        let report: NWConnection.EstablishmentReport? = await withCheckedContinuation { continuation in
            connection.requestEstablishmentReport(queue: .global()) { continuation.resume(returning: $0) }
        }
        guard let report else { return Times(handshake: total) }
        var times = Times()
        if !report.resolutions.isEmpty {
            times.resolve = .seconds(report.resolutions.reduce(0) { $0 + $1.duration })
        }
        let handshakes = report.handshakes
        let connect = handshakes.first { $0.definition == NWProtocolTCP.definition }.map {
            Duration.seconds($0.handshakeDuration)
        }
        times.connect = connect
        let own = handshakes.first { $0.definition == NWProtocolTLS.definition }.map {
            Duration.seconds($0.handshakeDuration)
        }
        times.handshake = own ?? max(.zero, total - (times.resolve ?? .zero) - (connect ?? .zero))
        return times
    }
}

extension TLSProbe.Observation {
    fileprivate mutating func read(_ values: SecProtocolMetadataValues) {
        if let version = values.version { self.version = Self.name(of: version) }
        if let suite = values.cipherSuite { cipherSuite = TLSNegotiation.name(ofCipherSuite: suite.rawValue) }
        group = values.group.map { TLSNegotiation.name(ofGroup: $0) }
        applicationProtocol = values.applicationProtocol
        stapledResponse = values.peer.ocspResponses.first.map { [UInt8]($0) }
    }

    private static func name(of version: tls_protocol_version_t) -> String {
        switch version {
        case .TLSv10: "TLS 1.0"
        case .TLSv11: "TLS 1.1"
        case .TLSv12: "TLS 1.2"
        case .TLSv13: "TLS 1.3"
        default: "version \(version.rawValue)"
        }
    }
}
