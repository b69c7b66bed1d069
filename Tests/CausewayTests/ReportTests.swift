import Dispatch
import Synchronization
import Testing

@testable import Causeway

@Suite("Reports")
struct ReportTests {
    typealias Report = NWConnection.DataTransferReport

    private let interface = NWInterface(name: "eth0", index: 2, type: .wiredEthernet)

    private func counters(_ first: UInt64) -> TransferCounters {
        TransferCounters(
            receivedIPPackets: first, sentIPPackets: first + 1, receivedTransportBytes: first + 2,
            receivedTransportDuplicateBytes: first + 3, receivedTransportOutOfOrderBytes: first + 4,
            sentTransportBytes: first + 5, retransmittedTransportBytes: first + 6,
            receivedApplicationBytes: first + 7, sentApplicationBytes: first + 8)
    }

    private func values(_ report: Report.PathReport) -> [UInt64] {
        [
            report.receivedIPPacketCount, report.sentIPPacketCount, report.receivedTransportByteCount,
            report.receivedTransportDuplicateByteCount, report.receivedTransportOutOfOrderByteCount,
            report.sentTransportByteCount, report.retransmittedTransportByteCount,
            report.receivedApplicationByteCount, report.sentApplicationByteCount,
        ]
    }

    @Test("Each counter of a path report has its value")
    func pathReport() {
        let report = Report.PathReport(
            interface: interface, radioType: .wifi(.ax), counters: counters(10),
            roundTrip: RoundTripTimes(smoothed: 0.3, minimum: 0.1, variance: 0.2))
        #expect(values(report) == Array(10...18))
        #expect(report.interface == interface)
        #expect(report.transportSmoothedRTT == 0.3)
        #expect(report.transportMinimumRTT == 0.1)
        #expect(report.transportRTTVariance == 0.2)
        guard case .wifi(.ax) = report.radioType else {
            Issue.record("the radio type is \(String(describing: report.radioType))")
            return
        }
    }

    @Test("The aggregate sums the counters and has the times of the primary path")
    func aggregate() {
        let primary = Report.PathReport(
            interface: interface, counters: counters(0), roundTrip: RoundTripTimes(smoothed: 0.5))
        let other = Report.PathReport(
            interface: NWInterface(name: "wlan0", index: 3, type: .wifi), counters: counters(100),
            roundTrip: RoundTripTimes(smoothed: 9))
        let report = Report(duration: 2, primary: primary, others: [other])
        #expect(values(report.aggregatePathReport) == stride(from: 100, through: 116, by: 2).map { UInt64($0) })
        #expect(report.aggregatePathReport.interface == interface)
        #expect(report.aggregatePathReport.transportSmoothedRTT == 0.5)
        #expect(report.pathReports.count == 2)
        #expect(report.debugDescription.hasPrefix("2.0 s on eth0: received 114 bytes, sent 116 bytes"))
    }

    @Test("An interval is a difference and never negative")
    func difference() {
        #expect(counters(20).since(counters(15)).receivedIPPackets == 5)
        #expect(counters(20).since(counters(15)).sentApplicationBytes == 5)
        #expect(counters(15).since(counters(20)) == TransferCounters())
    }

    @Test("A pending report is collected once")
    func pendingReport() {
        let calls = Mutex(0)
        let path = Report.PathReport(interface: interface, counters: counters(0))
        let pending = NWConnection.PendingDataTransferReport { _, completion in
            completion(Report(duration: 1, primary: path))
        }
        let queue = DispatchQueue(label: "unused")
        for _ in 0..<3 {
            pending.collect(queue: queue) { report in
                #expect(report.duration == 1)
                calls.withLock { $0 += 1 }
            }
        }
        #expect(calls.withLock { $0 } == 1)
    }

    @Test("An establishment report describes proxy, resolutions and handshakes")
    func establishment() {
        typealias Establishment = NWConnection.EstablishmentReport
        let endpoint = NWEndpoint.hostPort(host: "192.0.2.1", port: 7)
        let plain = Establishment(duration: 0.25)
        #expect(!plain.usedProxy && !plain.proxyConfigured)
        #expect(plain.previousAttemptCount == 0)
        let report = Establishment(
            duration: 0.5, attemptStartedAfterInterval: 0.25, previousAttemptCount: 1,
            resolutions: [
                Establishment.Resolution(
                    source: .cache, duration: 0, endpointCount: 2, successfulEndpoint: endpoint,
                    preferredEndpoint: endpoint)
            ],
            handshakes: [
                Establishment.Handshake(
                    definition: NWProtocolTCP.definition, handshakeDuration: 0.125, handshakeRTT: 0.0625)
            ], proxyEndpoint: endpoint)
        #expect(report.usedProxy && report.proxyConfigured)
        #expect(report.resolutions.first?.dnsProtocol == .unknown)
        let expected = """
            established in 0.5 s; 1 previous attempts, started after 0.25 s; proxy 192.0.2.1:7; \
            resolved 2 endpoints (cache) in 0.0 s; tcp handshake 0.125 s, rtt 0.0625 s
            """
        #expect(report.debugDescription == expected)
    }

    @Test("TCP metadata query their connection each time and survive its end")
    func tcpMetadata() {
        final class Source: TCPMetadataSource {
            let received = Mutex<UInt32>(3)
            var availableReceiveBuffer: UInt32 { received.withLock { $0 } }
            var availableSendBuffer: UInt32 { 5 }
            var subflowAddresses: [(local: NWEndpoint, remote: NWEndpoint)] {
                [(local: .unix(path: "local"), remote: .unix(path: "remote"))]
            }
        }
        var source: Source? = Source()
        let metadata = source.map { NWProtocolTCP.Metadata(source: $0) }
        #expect(metadata?.availableReceiveBuffer == 3)
        #expect(metadata?.availableSendBuffer == 5)
        #expect(metadata?.subflows.map(\.localEndpoint) == [.unix(path: "local")])
        source?.received.withLock { $0 = 4 }
        #expect(metadata?.availableReceiveBuffer == 4)
        source = nil
        #expect(metadata?.availableReceiveBuffer == 0)
        #expect(metadata?.availableSendBuffer == 0)
        #expect(metadata?.subflows.isEmpty == true)
    }
}
