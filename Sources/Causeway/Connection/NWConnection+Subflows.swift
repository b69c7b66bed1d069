internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// The per-subflow counters and reports of a connection that uses Multipath TCP (RFC 8684).
extension NWConnection {
    /// A subflow's two addresses.
    struct SubflowEnds: Hashable, Sendable {
        var local: SocketAddress
        var remote: SocketAddress

        init(_ subflow: Subflow) {
            (local, remote) = (subflow.local, subflow.remote)
        }
    }

    /// Transfer counters for each subflow. Empty unless the connection uses Multipath TCP.
    var subflowCounters: [SubflowEnds: TransferCounters] {
        let counted = (driver.subflows ?? []).map { (SubflowEnds($0), TransferCounters($0.information)) }
        return Dictionary(counted) { first, _ in first }
    }

    /// Creates a report for each subflow, the oldest first. The first report includes all application bytes, because they are not counted
    /// per subflow.
    func subflowReports(
        since before: [SubflowEnds: TransferCounters], _ whole: DataTransferReport.PathReport
    ) -> [DataTransferReport.PathReport] {
        let model = NetworkStateMonitor.shared.model
        return (driver.subflows ?? []).enumerated().map { number, subflow in
            var counters = TransferCounters(subflow.information).since(
                before[SubflowEnds(subflow)] ?? TransferCounters())
            if number == 0 {
                counters.receivedApplicationBytes = whole.receivedApplicationByteCount
                counters.sentApplicationBytes = whole.sentApplicationByteCount
            }
            let home = subflow.local.internetAddress.flatMap { model.holder(of: $0) }
            return DataTransferReport.PathReport(
                interface: home?.interface ?? whole.interface, counters: counters,
                roundTrip: RoundTripTimes(subflow.information))
        }
    }
}

extension TransferCounters {
    fileprivate init(_ information: TCPInformation) {
        self.init(information, received: 0, sent: 0)
    }
}

extension RoundTripTimes {
    init(_ information: TCPInformation) {
        self.init(
            smoothed: information.smoothedRTT.timeInterval, minimum: information.minimumRTT.timeInterval,
            variance: information.rttVariance.timeInterval)
    }
}
