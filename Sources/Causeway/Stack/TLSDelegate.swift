package import CausewayProtocols
package import CausewayRuntime
internal import CausewaySystem
internal import CausewayTLS
internal import CausewayTypes
internal import FoundationEssentials

/// Calls the program's TLS blocks for one connection, and stores the negotiated parameters.
package final class TLSDelegate: StageDelegate, MetadataSource {
    private let values: SecProtocolOptionValues
    private let keyLog: (@Sendable (String) -> Void)?
    /// The metadata object that the blocks receive. After the handshake, the connection's metadata contains the same
    /// object.
    private let securityMetadata = sec_protocol_metadata_t()
    private let established = LockedValue<NWProtocolTLS.Metadata?>(nil)
    private let failure = LockedValue<String?>(nil)

    init(_ values: SecProtocolOptionValues, keyLog: (@Sendable (String) -> Void)?) {
        self.values = values
        self.keyLog = keyLog
        let keys = values.preSharedKeys.keys
        securityMetadata.update { $0.preSharedKeys = keys }
    }

    /// The negotiated parameters; `nil` before the handshake is complete.
    package var metadata: NWProtocolTLS.Metadata? { established.withLock { $0 } }
    var connectionMetadata: NWProtocolMetadata? { metadata }
    /// The human-readable reason for a TLS failure.
    var failureReason: String? { failure.withLock { $0 } }

    package var callsProgram: Bool { keyLog != nil }

    package func stageReported(_ event: any StageEvent, from place: StagePlace) {
        guard let event = event as? TLSEvent else { return }
        handle(event, at: place)
    }

    /// Handles an event of the TLS stage, such as a handshake step to run or a certificate chain to evaluate.
    func handle(_ event: TLSEvent, at place: any StageAccess) {
        switch event {
        case .step(let step):
            WorkerThreads.shared.run {
                let progress = step.run()
                place.withStage(as: TLSStage.self, isAnswer: false) { $0.stepEnded(progress) }
            }
        case .evaluateTrust(let trust): evaluate(trust, place)
        case .chooseIdentity(let challenge): choose(challenge, place)
        case .established(let negotiation): keep(negotiation, place)
        case .failed(let reason):
            let text = reason.description
            failure.withLock { $0 = text }
        case .keyLog(let line): keyLog?(line)
        }
    }

    // MARK: Blocks of the program

    private func evaluate(_ trust: PeerTrust, _ place: any StageAccess) {
        guard let verify = values.peer.verify else {
            WorkerThreads.shared.run {
                let isTrusted = (try? trust.evaluate()) != nil
                place.withStage(as: TLSStage.self, isAnswer: false) { $0.trustEvaluated(isTrusted: isTrusted) }
            }
            return
        }
        securityMetadata.update { $0.peer = .init(trust.certificates, stapledResponse: trust.stapledResponse) }
        let answer = SingleAnswer<Bool> { isTrusted in
            place.withStage(as: TLSStage.self) { $0.trustEvaluated(isTrusted: isTrusted) }
        }
        let metadata = securityMetadata
        let object = sec_trust_t(SecTrust(trust))
        verify.queue.async { verify.block.value(metadata, object) { answer.give($0) } }
    }

    private func choose(_ request: TLSChallenge, _ place: any StageAccess) {
        let answer = SingleAnswer<TLSIdentity?> { identity in
            place.withStage(as: TLSStage.self) { $0.identityChosen(identity) }
        }
        guard let challenge = values.challenge else { return answer.give(nil) }
        securityMetadata.update { metadata in
            metadata.signatureAlgorithms = request.signatureSchemes
            metadata.distinguishedNames = request.authorities.map { Data($0) }
        }
        let metadata = securityMetadata
        // If the program's identity is malformed, continue without an identity. A server that requires an identity then
        // refuses the connection.
        challenge.queue.async {
            challenge.block.value(metadata) { identity in answer.give(identity.flatMap { try? $0.engineIdentity() }) }
        }
    }

    // MARK: Result of the handshake

    private func keep(_ negotiation: TLSNegotiation, _ place: any StageAccess) {
        securityMetadata.update { metadata in
            metadata.applicationProtocol = negotiation.applicationProtocol
            metadata.serverName = negotiation.serverName
            metadata.version = tls_protocol_version_t(rawValue: negotiation.version.rawValue)
            metadata.cipherSuite = tls_ciphersuite_t(number: negotiation.cipherSuite)
            metadata.group = negotiation.group
            metadata.isEarlyDataAccepted = negotiation.isEarlyDataAccepted
            metadata.peer = .init(negotiation.peerCertificates, stapledResponse: negotiation.stapledResponse)
            metadata.datagrams = negotiation.datagrams.map { ($0.longestMessage, $0.overhead) }
            metadata.export = { label, context, count in
                let secret = place.withStage(as: TLSStage.self) { stage in
                    stage.exportSecret(
                        label: String(decoding: label, as: UTF8.self), context: context.map { [UInt8]($0) },
                        count: count)
                }
                return secret.flatMap { $0 }.map { Data($0) }
            }
        }
        let metadata = NWProtocolTLS.Metadata(securityProtocolMetadata: securityMetadata)
        established.withLock { $0 = metadata }
    }
}

extension SecProtocolMetadataValues.Peer {
    fileprivate init(_ certificates: [Certificate], stapledResponse: [UInt8]?) {
        self.certificates = certificates.map { SecCertificate(data: Data($0.der)) }
        publicKey = certificates.first.map { Data($0.subjectPublicKeyInfo) }
        ocspResponses = stapledResponse.map { [Data($0)] } ?? []
    }
}
