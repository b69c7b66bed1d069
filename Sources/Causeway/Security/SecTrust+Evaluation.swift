internal import CausewayTLS
internal import CausewayTypes
internal import FoundationEssentials

extension SecTrust {
    /// What the engine asks a verify block about.
    convenience init(_ trust: PeerTrust) {
        let host = trust.reference?.description
        // Of a host that no certificate can name the certificate is refused, not taken for anybody's.
        let policy = SecPolicy(.tls(isServer: trust.role == .server, hostName: host ?? ""))
        var values = Values(
            certificates: trust.certificates.map { SecCertificate(data: Data($0.der)) }, policies: [policy])
        values.evaluate = { $0.failure(asking: trust, policy) }
        self.init(values)
    }

    /// Why a chain that no engine handed over is not trusted; `nil` if it is.
    var failure: NWError? { failure(asking: nil, nil) }

    /// - Parameters:
    ///   - original: The engine's question, which holds as long as the program has changed nothing.
    ///   - policy: The policy that the trust was made with.
    private func failure(asking original: PeerTrust?, _ policy: SecPolicy?) -> NWError? {
        let values = values
        do {
            guard !values.policies.isEmpty else { throw NWError.posix(.ENOTSUP) }
            for wanted in values.policies {
                var peer: PeerTrust
                if let original, wanted == policy {
                    peer = original
                } else {
                    peer = try Self.question(wanted, values, settings: original?.settings)
                }
                if let settings = try Self.settings(values, instead: peer.settings) { peer = peer.judged(by: settings) }
                let chain = try peer.evaluate()
                // Before TLS 1.3 a statement comes after the certificates, and nobody can say here that none will.
                if let response = original?.stapledResponse, let failure = peer.judgeStatus(response, of: chain) {
                    throw failure
                }
            }
            return nil
        } catch let failure as TLSFailure {
            return failure.failure.networkError
        } catch let failure as TrustFailure {
            return .tls(failure.status)
        } catch let error as NWError {
            return error
        } catch {
            return .posix(.EINVAL)
        }
    }

    /// What the program set, in place of what the connection was to go by; `nil` if it set nothing.
    private static func settings(
        _ values: Values, instead old: TrustSettings
    ) throws(TLSFailure) -> TrustSettings? {
        var settings = old
        if values.anchors != nil || !values.trustsSystemAnchors {
            settings.anchors = try (values.anchors ?? []).map { anchor throws(TLSFailure) in
                try Certificate(der: [UInt8](anchor.data))
            }
            settings.includesSystemAnchors = values.trustsSystemAnchors
        }
        settings.time = values.time ?? old.time
        return settings == old ? nil : settings
    }

    /// The question that one policy asks.
    private static func question(
        _ policy: SecPolicy, _ values: Values, settings: TrustSettings?
    ) throws(TLSFailure) -> PeerTrust {
        let certificates = try values.certificates.map { certificate throws(TLSFailure) in
            try Certificate(der: [UInt8](certificate.data))
        }
        let settings = settings ?? TrustSettings()
        switch policy.purpose {
        case .basicX509:
            return PeerTrust(certificates: certificates, role: .any, reference: nil, settings: settings)
        case .tls(let isServer, let hostName):
            // A name that cannot be one matches nobody; that there is none is the program's wish.
            let reference = hostName.flatMap { ReferenceName(NWEndpoint.Host($0)) }
            return PeerTrust(
                certificates: certificates, role: isServer ? .server : .client, reference: reference,
                isNameChecked: hostName != nil, settings: settings)
        }
    }
}
