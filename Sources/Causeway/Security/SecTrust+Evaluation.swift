internal import CausewayTLS
internal import CausewayTypes
internal import FoundationEssentials

extension SecTrust {
    /// Creates the trust object for a verify block. The object gets the certificates and the settings of the validation
    /// that the TLS engine requests.
    convenience init(_ trust: PeerTrust) {
        let host = trust.reference?.description
        // `host` is `nil` if no certificate can contain the requested host. In that case, use an empty name, which
        // makes validation fail. A policy without a name would accept a certificate for any name.
        let policy = SecPolicy(.tls(isServer: trust.role == .server, hostName: host ?? ""))
        var values = Values(
            certificates: trust.certificates.map { SecCertificate(data: Data($0.der)) }, policies: [policy])
        // Keep the validation that the TLS engine requested. It stays in use until the program changes the trust
        // object.
        values.original = (trust, policy)
        self.init(values)
    }

    /// Returns the reason why the chain is not trusted, or `nil` if it is trusted.
    ///
    /// - Parameter isStrict: Whether to ignore the exceptions that the program has set.
    func failure(isStrict: Bool = false) -> NWError? {
        let values = values
        do {
            guard !values.policies.isEmpty else { throw NWError.posix(.ENOTSUP) }
            for policy in values.policies {
                let question = try question(policy, values)
                let faults = isStrict ? nil : values.exceptions?.faults[policy.question]
                let chain = try question.evaluate(overlooking: faults ?? [])
                // In TLS 1.2 and earlier, the OCSP response arrives after the certificates, and the chain is evaluated
                // before that. So a missing response is not an error.
                if let response = values.original?.question.stapledResponse,
                    let failure = question.statusFailure(response, of: chain)
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

    /// Whether the chain is not trusted because it leads to no trusted authority.
    package var lacksKnownRoot: Bool {
        let values = values
        for policy in values.policies {
            do {
                _ = try question(policy, values).evaluate(overlooking: [])
            } catch {
                guard let failure = error as? TrustFailure else { return false }
                return failure.rule == .unknownIssuer || failure.rule == .selfSigned
            }
        }
        return false
    }

    /// Returns the validation for one policy. It uses the settings of the connection, and the changes that the program
    /// made to them.
    func question(_ policy: SecPolicy, _ values: Values) throws(TLSFailure) -> PeerTrust {
        let question =
            if let original = values.original, original.policy == policy {
                original.question
            } else {
                try Self.question(policy, values, settings: values.original?.question.settings)
            }
        guard let settings = try Self.settings(values, instead: question.settings) else { return question }
        return question.applying(settings)
    }

    /// Applies the program's changes to the trust settings `old`, and returns the result. Returns `nil` if the program
    /// changed no setting.
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

    /// Creates the validation for one policy.
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
            // An invalid name matches no certificate. Without a name, the names in the certificate are not checked: the program must check
            // them.
            let reference = hostName.flatMap { ReferenceName(NWEndpoint.Host($0)) }
            return PeerTrust(
                certificates: certificates, role: isServer ? .server : .client, reference: reference,
                isNameChecked: hostName != nil, settings: settings)
        }
    }
}
