package import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
public import Dispatch
internal import FoundationEssentials

extension NWConnection {
    /// Returns the metadata for one protocol in the stack; `nil` before the connection is ready and after its end.
    public func metadata(definition: NWProtocolDefinition) -> NWProtocolMetadata? {
        guard driver.isEstablished else { return nil }
        let isDatagram = driver.settings.transport == .udp
        switch definition {
        case NWProtocolTCP.definition where !isDatagram: return NWProtocolTCP.Metadata(source: driver.flow)
        case NWProtocolUDP.definition where isDatagram: return NWProtocolUDP.Metadata()
        case NWProtocolIP.definition: return NWProtocolIP.Metadata()
        default:
            return driver.channel?.delegates.lazy.compactMap { ($0 as? any MetadataSource)?.connectionMetadata }
                .first { $0.definition == definition }
        }
    }

    /// Delivers a report on how the connection was established, once, on `queue`; `nil` if the connection is not ready.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    @preconcurrency public func requestEstablishmentReport(
        queue: DispatchQueue,
        completion: @escaping @Sendable (_ report: NWConnection.EstablishmentReport?) -> Void
    ) {
        let report = makeEstablishmentReport()
        queue.async { completion(report) }
    }

    private func makeEstablishmentReport() -> EstablishmentReport? {
        guard driver.isEstablished else { return nil }
        // This report covers a connection from a listener. Only the handshakes of protocols above the transport, such
        // as TLS, were recorded. If there are no such protocols, there is no record. The report then shows 0 seconds.
        guard let facts = driver.establishment else { return EstablishmentReport(duration: 0) }
        let interval = facts.previousAttempts == 0 ? .zero : facts.attemptStarted - facts.started
        return EstablishmentReport(
            duration: (facts.finished - facts.attemptStarted).timeInterval,
            attemptStartedAfterInterval: interval.timeInterval, previousAttemptCount: facts.previousAttempts,
            resolutions: resolutions(facts), handshakes: handshakes(facts), proxyConfigured: driver.route != nil,
            proxyEndpoint: driver.route?.proxy)
    }

    private func resolutions(_ facts: EstablishmentFacts) -> [EstablishmentReport.Resolution] {
        let used = currentPath?.remoteEndpoint ?? endpoint
        return facts.resolution.map { resolution in
            [
                EstablishmentReport.Resolution(
                    source: .init(resolution.origin), duration: resolution.duration.timeInterval,
                    endpointCount: resolution.addressCount, successfulEndpoint: used,
                    preferredEndpoint: facts.firstAddress.map { NWEndpoint($0.unmapped) } ?? used,
                    dnsProtocol: .init(resolution.origin))
            ]
        } ?? []
    }

    private func handshakes(_ facts: EstablishmentFacts) -> [EstablishmentReport.Handshake] {
        let roundTrip = (facts.baseline?.information ?? information)?.smoothedRTT
        var durations: [(NWProtocolDefinition, Duration)] = []
        if let connected = facts.connected {
            let transport = driver.settings.transport == .udp ? NWProtocolUDP.definition : NWProtocolTCP.definition
            durations.append((transport, connected - facts.attemptStarted))
        }
        for (delegate, duration) in driver.channel?.handshakes ?? [] {
            guard let definition = (delegate as? any HandshakeSource)?.handshakeDefinition else { continue }
            durations.append((definition, duration))
        }
        return durations.map { definition, duration in
            EstablishmentReport.Handshake(
                definition: definition, handshakeDuration: duration.timeInterval,
                handshakeRTT: (roundTrip ?? duration).timeInterval)
        }
    }

    /// The kernel's data about the connection, if it uses TCP.
    private var information: TCPInformation? {
        driver.flow.withDescriptor { try? TCPInformation(of: $0) }.flatMap { $0 }
    }

    /// Starts to count the transferred data: immediately if the connection is ready, otherwise when it becomes ready.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public func startDataTransferReport() -> PendingDataTransferReport {
        let started = System.now
        let before = isReady ? transferCounters() : nil
        let subflowsBefore = subflowCounters
        let interface = currentPath?.availableInterfaces.first
        return PendingDataTransferReport { queue, completion in
            let facts = self.driver.establishment
            let begun = before == nil ? max(started, facts?.finished ?? .zero) : started
            let primary = self.pathReport(since: before ?? TransferCounters(facts?.baseline), interface)
            let duration = (System.now - begun).timeInterval
            let paths = self.subflowReports(since: subflowsBefore, primary)
            let report = DataTransferReport(
                duration: duration, primary: paths.first ?? primary, others: Array(paths.dropFirst()))
            queue.async { completion(report) }
        }
    }

    private var isReady: Bool {
        if case .ready = driver.state { true } else { false }
    }

    func pathReport(
        since before: TransferCounters, _ known: NWInterface? = nil
    ) -> DataTransferReport.PathReport {
        let interface = currentPath?.availableInterfaces.first ?? known ?? NWInterface(name: "", index: 0, type: .other)
        return DataTransferReport.PathReport(
            interface: interface, radioType: nil, counters: transferCounters().since(before),
            roundTrip: information.map { RoundTripTimes($0) } ?? RoundTripTimes())
    }

    private func transferCounters() -> TransferCounters {
        let (received, sent) = driver.flow.transferred
        var counters = TransferCounters(information, received: received, sent: sent)
        let program = driver.channel?.transferred ?? (received: received, sent: sent)
        counters.receivedApplicationBytes = program.received
        counters.sentApplicationBytes = program.sent
        return counters
    }
}

extension TransferCounters {
    /// Creates the counters from the kernel's data about a TCP connection. Without this data, for example for UDP, the
    /// counters contain only the byte counts `received` and `sent`.
    init(_ information: TCPInformation?, received: UInt64, sent: UInt64) {
        guard let information else {
            self.init(receivedTransportBytes: received, sentTransportBytes: sent)
            return
        }
        self.init(
            receivedIPPackets: information.segmentsIn, sentIPPackets: information.segmentsOut,
            receivedTransportBytes: information.bytesReceived, sentTransportBytes: information.bytesSent,
            retransmittedTransportBytes: information.bytesRetransmitted)
    }

    fileprivate init(_ baseline: EstablishmentFacts.Baseline?) {
        self.init(baseline?.information, received: baseline?.received ?? 0, sent: baseline?.sent ?? 0)
    }
}

extension Duration {
    /// The duration in seconds.
    var timeInterval: Double { Double(nanoseconds) / 1e9 }
}

extension NWConnection.EstablishmentReport.Resolution.Source {
    /// Converts the origin of an address to the source in a report. An address from the hosts file counts as a cached
    /// answer. So does the address of a name with a fixed meaning, such as `localhost`.
    fileprivate init(_ origin: AddressOrigin) {
        switch origin {
        case .host, .cache: self = .cache
        case .expiredCache: self = .expiredCache
        case .query, .link: self = .query
        }
    }
}

extension NWConnection.EstablishmentReport.Resolution.DNSProtocol {
    package init(_ origin: AddressOrigin) {
        switch origin {
        case .query(.udp), .link: self = .udp
        case .query(.tcp): self = .tcp
        case .host, .cache, .expiredCache: self = .unknown
        }
    }
}
