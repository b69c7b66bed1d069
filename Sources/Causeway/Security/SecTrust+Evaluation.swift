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
        // It holds as long as the program has changed nothing.
        values.original = (trust, policy)
        self.init(values)
    }

    /// Why the chain is not trusted; `nil` if it is.
    ///
    /// - Parameter isStrict: Nothing is overlooked, whatever the program has said.
    func failure(isStrict: Bool = false) -> NWError? {
        let values = values
        do {
            guard !values.policies.isEmpty else { throw NWError.posix(.ENOTSUP) }
            for policy in values.policies {
                let question = try question(policy, values)
                let faults = isStrict ? nil : values.exceptions?.faults[policy.question]
                let chain = try question.evaluate(overlooking: faults ?? [])
                // Before TLS 1.3 a statement comes after the certificates, and nobody can say here that none will.
                if let response = values.original?.question.stapledResponse,
                    let failure = question.judgeStatus(response, of: chain)
                {
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

    /// The question that one policy asks, by what the program and the connection are to go by.
    func question(_ policy: SecPolicy, _ values: Values) throws(TLSFailure) -> PeerTrust {
        let question =
            if let original = values.original, original.policy == policy {
                original.question
            } else {
                try Self.question(policy, values, settings: values.original?.question.settings)
            }
        guard let settings = try Self.settings(values, instead: question.settings) else { return question }
        return question.judged(by: settings)
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
