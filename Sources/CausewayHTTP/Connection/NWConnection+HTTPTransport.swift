internal import Causeway
internal import CausewayHTTPProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import FoundationEssentials

extension NWConnection: HTTPTransport {
    var earlyProtocol: String? {
        guard case .hostPort(let host, let port) = endpoint,
            let tls = parameters.defaultProtocolStack.applicationProtocols.first as? NWProtocolTLS.Options,
            let configuration = try? TLSConfiguration(tls, isServer: false, isDatagram: false)
        else { return nil }
        return configuration.earlyProtocol(host: host, port: port.rawValue)
    }

    func sendEarly(_ content: Data) { send(content: content, completion: .idempotent) }

    func start(_ report: @escaping @Sendable (HTTPTransportEvent) -> Void) {
        stateUpdateHandler = { [weak self] state in
            guard let self else { return }
            switch state {
            case .ready: report(.ready(transportFacts))
            // A path can appear later. Other reasons for waiting, such as a refused connection, fail the request.
            case .waiting(let error): report(currentPath?.status == .satisfied ? .failed(error) : .waiting(error))
            case .failed(let error): report(.failed(error))
            case .setup, .preparing, .cancelled: break
            }
        }
        driver.startOnLoop(observer: self)
    }

    func receive(atMost limit: Int, _ completion: @escaping @Sendable (HTTPArrival) -> Void) {
        receive(minimumIncompleteLength: 1, maximumLength: limit) { content, context, isComplete, error in
            completion(HTTPArrival(content: content, isEnd: isComplete && context?.isFinal ?? true, error: error))
        }
    }

    func send(_ content: Data, _ completion: @escaping @Sendable (NWError?) -> Void) {
        send(content, passing: completion)
    }

    func sendEnd(_ completion: @escaping @Sendable (NWError?) -> Void) {
        send(content: nil, contentContext: .finalMessage, isComplete: true, completion: .contentProcessed(completion))
    }

    func close(isInterrupted: Bool) {
        if isInterrupted { forceCancel() } else { cancel() }
    }

    private var transportFacts: HTTPTransportFacts {
        let security = (metadata(definition: NWProtocolTLS.definition) as? NWProtocolTLS.Metadata)?
            .securityProtocolMetadata.values
        return HTTPTransportFacts(
            applicationProtocol: security?.applicationProtocol, forwardProxy: driver.route?.forwarder as? ForwardProxy
        ) { [weak self] id, name in
            self?.connectionDetails(id, name, security) ?? HTTPConnectionDetails(id: id, protocolName: name)
        }
    }

    private func connectionDetails(
        _ id: PoolConnectionID, _ name: String, _ security: SecProtocolMetadataValues?
    ) -> HTTPConnectionDetails {
        let facts = driver.establishment
        let addresses = driver.flow.addresses
        let resolution = facts.flatMap { facts in
            facts.resolution.map {
                HTTPConnectionDetails.Resolution(
                    phase: facts.phase(from: facts.started, to: facts.started + $0.duration),
                    dnsProtocol: .init($0.origin))
            }
        }
        let secure = security.flatMap { _ in
            facts.flatMap { $0.phase(from: $0.connected ?? $0.attemptStarted, to: $0.finished) }
        }
        // A minimum round-trip time of zero means that none has been measured yet.
        let roundTrip = facts?.baseline?.information.map(\.minimumRTT).flatMap { $0 > .zero ? $0 : nil }
        let route: HTTPConnectionDetails.Route =
            driver.route?.forwarder != nil ? .forwarding : driver.route?.proxy != nil ? .tunnel : .direct
        return HTTPConnectionDetails(
            id: id, protocolName: name, route: route,
            isMultipath: driver.settings.tcp.isMultipath && !driver.flow.subflowAddresses.isEmpty,
            localEndpoint: addresses?.local.map { NWEndpoint($0.unmapped) },
            remoteEndpoint: addresses?.remote.map { NWEndpoint($0.unmapped) },
            security: security.flatMap(HTTPConnectionDetails.Security.init),
            resolution: resolution, connect: facts.map { $0.phase(from: $0.attemptStarted, to: $0.finished) },
            secureConnect: secure, roundTrip: driver.route?.proxy == nil ? roundTrip : nil,
            makePath: { [weak self] in self?.currentPath })
    }
}

extension EstablishmentFacts {
    fileprivate func phase(from start: Duration, to end: Duration) -> HTTPConnectionDetails.Phase {
        HTTPConnectionDetails.Phase(start: start, end: max(start, end))
    }
}

extension HTTPConnectionDetails.Security {
    fileprivate init?(_ values: SecProtocolMetadataValues) {
        guard let version = values.version, let suite = values.cipherSuite else { return nil }
        let trust = SecTrust(
            SecTrust.Values(
                certificates: values.peer.certificates,
                policies: [SecPolicy(.tls(isServer: true, hostName: values.serverName))]))
        self.init(
            version: version, cipherSuite: suite, trust: values.peer.certificates.isEmpty ? nil : trust)
    }
}
