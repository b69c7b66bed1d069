internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
public import Dispatch
internal import FoundationEssentials

extension NWConnection {
    /// The metadata of one protocol of the connection's stack. `nil` before the connection is ready and after its end.
    public func metadata(definition: NWProtocolDefinition) -> NWProtocolMetadata? {
        guard case .ready = driver.state else { return nil }
        let isDatagram = driver.settings.transport == .udp
        switch definition {
        case NWProtocolTCP.definition where !isDatagram: return NWProtocolTCP.Metadata(source: self)
        case NWProtocolUDP.definition where isDatagram: return NWProtocolUDP.Metadata()
        case NWProtocolIP.definition: return NWProtocolIP.Metadata()
        default:
            return driver.channel?.attendants.lazy.compactMap { ($0 as? any MetadataSource)?.connectionMetadata }
                .first { $0.definition == definition }
        }
    }

    /// Gives the report on how the connection came about, once, on `queue`; `nil` when it is not ready.
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
        guard case .ready = driver.state, let facts = driver.establishment else { return nil }
        let transport = driver.settings.transport == .udp ? NWProtocolUDP.definition : NWProtocolTCP.definition
        let duration = (facts.finished - facts.attemptStarted).timeInterval
        let roundTrip = driver.flow.withDescriptor { try? TCPInformation(of: $0).smoothedRTT.timeInterval }.flatMap {
            $0
        }
        let used = currentPath?.remoteEndpoint ?? endpoint
        let resolutions = facts.resolution.map { resolution in
            EstablishmentReport.Resolution(
                source: .query, duration: resolution.duration.timeInterval, endpointCount: resolution.addressCount,
                successfulEndpoint: used, preferredEndpoint: facts.firstAddress.map { NWEndpoint($0.unmapped) } ?? used,
                dnsProtocol: .unknown)
        }
        return EstablishmentReport(
            duration: duration, attemptStartedAfterInterval: (facts.attemptStarted - facts.started).timeInterval,
            previousAttemptCount: facts.previousAttempts, resolutions: resolutions.map { [$0] } ?? [],
            handshakes: [
                EstablishmentReport.Handshake(
                    definition: transport, handshakeDuration: duration, handshakeRTT: roundTrip ?? duration)
            ])
    }

    /// Begins to count what is transferred from now on.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public func startDataTransferReport() -> PendingDataTransferReport {
        let started = Machine.now
        let before = transferCounters()
        return PendingDataTransferReport { queue, completion in
            let primary = self.pathReport(since: before)
            let report = DataTransferReport(duration: (Machine.now - started).timeInterval, primary: primary)
            queue.async { completion(report) }
        }
    }

    private func pathReport(since before: TransferCounters) -> DataTransferReport.PathReport {
        let information = driver.flow.withDescriptor { try? TCPInformation(of: $0) }.flatMap { $0 }
        let roundTrip = information.map { information in
            RoundTripTimes(
                smoothed: information.smoothedRTT.timeInterval, minimum: information.minimumRTT.timeInterval,
                variance: information.rttVariance.timeInterval)
        }
        let interface = currentPath?.availableInterfaces.first ?? NWInterface(name: "", index: 0, type: .other)
        return DataTransferReport.PathReport(
            interface: interface, radioType: nil, counters: transferCounters().since(before),
            roundTrip: roundTrip ?? RoundTripTimes())
    }

    private func transferCounters() -> TransferCounters {
        let (received, sent) = driver.flow.transferred
        var counters = TransferCounters()
        counters.receivedApplicationBytes = received
        counters.sentApplicationBytes = sent
        guard let information = driver.flow.withDescriptor({ try? TCPInformation(of: $0) }).flatMap({ $0 }) else {
            counters.receivedTransportBytes = received
            counters.sentTransportBytes = sent
            return counters
        }
        counters.receivedIPPackets = information.segmentsIn
        counters.sentIPPackets = information.segmentsOut
        counters.receivedTransportBytes = information.bytesReceived
        counters.sentTransportBytes = information.bytesSent
        counters.retransmittedTransportBytes = information.bytesRetransmitted
        return counters
    }
}

extension NWConnection: TCPMetadataSource {
    package var availableReceiveBuffer: UInt32 {
        UInt32(clamping: driver.flow.withDescriptor { Socket.bytesReadable($0) } ?? 0)
    }

    package var availableSendBuffer: UInt32 {
        UInt32(clamping: driver.flow.withDescriptor { Socket.bytesUnsent($0) } ?? 0)
    }
}

extension Duration {
    /// Seconds.
    var timeInterval: Double { Double(nanoseconds) / 1e9 }
}
