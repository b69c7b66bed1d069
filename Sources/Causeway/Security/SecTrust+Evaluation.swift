internal import CausewayTLS
internal import CausewayTypes
internal import FoundationEssentials

extension SecTrust {
    /// What the engine asks a verify block about.
    convenience init(_ trust: PeerTrust) {
        let host = trust.reference?.description
        let policy = SecPolicy(.tls(isServer: trust.role == .server, hostName: host))
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
            var peer: PeerTrust
            if let original, values.policies == [policy] {
                peer = original
            } else {
                peer = try Self.question(values, settings: original?.settings)
            }
            if values.anchors != nil || !values.trustsSystemAnchors {
                var settings = peer.settings
                settings.anchors = try (values.anchors ?? []).map { anchor throws(TLSFailure) in
                    try Certificate(der: [UInt8](anchor.data))
                }
                settings.includesSystemAnchors = values.trustsSystemAnchors
                peer = peer.judged(by: settings)
            }
            let chain = try peer.evaluate()
            // Before TLS 1.3 a statement comes after the certificates, and nobody can say here that none will.
            if let response = original?.stapledResponse, let failure = peer.judgeStatus(response, of: chain) {
                throw failure
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

    /// The question that one policy for TLS asks. No other is known, and what nothing can judge is not trusted.
    private static func question(_ values: Values, settings: TrustSettings?) throws -> PeerTrust {
        guard values.policies.count == 1, case .tls(let isServer, let hostName) = values.policies[0].purpose else {
            throw NWError.posix(.ENOTSUP)
        }
        return PeerTrust(
            certificates: try values.certificates.map { try Certificate(der: [UInt8]($0.data)) },
            role: isServer ? .server : .client,
            reference: hostName.flatMap { ReferenceName(NWEndpoint.Host($0)) }, settings: settings ?? TrustSettings())
    }
}
