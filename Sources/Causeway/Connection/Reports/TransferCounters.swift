package import FoundationEssentials

/// Counters for a transfer report: the totals since the connection started, or the counts for a period.
package struct TransferCounters: Equatable, Sendable {
    package var receivedIPPackets: UInt64 = 0
    package var sentIPPackets: UInt64 = 0
    package var receivedTransportBytes: UInt64 = 0
    package var receivedTransportDuplicateBytes: UInt64 = 0
    package var receivedTransportOutOfOrderBytes: UInt64 = 0
    package var sentTransportBytes: UInt64 = 0
    package var retransmittedTransportBytes: UInt64 = 0
    package var receivedApplicationBytes: UInt64 = 0
    package var sentApplicationBytes: UInt64 = 0

    package init(
        receivedIPPackets: UInt64 = 0, sentIPPackets: UInt64 = 0, receivedTransportBytes: UInt64 = 0,
        receivedTransportDuplicateBytes: UInt64 = 0, receivedTransportOutOfOrderBytes: UInt64 = 0,
        sentTransportBytes: UInt64 = 0, retransmittedTransportBytes: UInt64 = 0,
        receivedApplicationBytes: UInt64 = 0, sentApplicationBytes: UInt64 = 0
    ) {
        self.receivedIPPackets = receivedIPPackets
        self.sentIPPackets = sentIPPackets
        self.receivedTransportBytes = receivedTransportBytes
        self.receivedTransportDuplicateBytes = receivedTransportDuplicateBytes
        self.receivedTransportOutOfOrderBytes = receivedTransportOutOfOrderBytes
        self.sentTransportBytes = sentTransportBytes
        self.retransmittedTransportBytes = retransmittedTransportBytes
        self.receivedApplicationBytes = receivedApplicationBytes
        self.sentApplicationBytes = sentApplicationBytes
    }

    /// Returns the difference from an earlier value. A counter that decreased counts as 0.
    package func since(_ earlier: TransferCounters) -> TransferCounters {
        combined(with: earlier) { $0 > $1 ? $0 - $1 : 0 }
    }

    /// Applies `combine` to each counter of this value and the same counter of `other`, and returns the results.
    func combined(
        with other: TransferCounters, _ combine: (UInt64, UInt64) -> UInt64
    ) -> TransferCounters {
        TransferCounters(
            receivedIPPackets: combine(receivedIPPackets, other.receivedIPPackets),
            sentIPPackets: combine(sentIPPackets, other.sentIPPackets),
            receivedTransportBytes: combine(receivedTransportBytes, other.receivedTransportBytes),
            receivedTransportDuplicateBytes: combine(
                receivedTransportDuplicateBytes, other.receivedTransportDuplicateBytes),
            receivedTransportOutOfOrderBytes: combine(
                receivedTransportOutOfOrderBytes, other.receivedTransportOutOfOrderBytes),
            sentTransportBytes: combine(sentTransportBytes, other.sentTransportBytes),
            retransmittedTransportBytes: combine(retransmittedTransportBytes, other.retransmittedTransportBytes),
            receivedApplicationBytes: combine(receivedApplicationBytes, other.receivedApplicationBytes),
            sentApplicationBytes: combine(sentApplicationBytes, other.sentApplicationBytes))
    }
}

/// The round-trip times that a transport measured, in seconds.
package struct RoundTripTimes: Equatable, Sendable {
    package var smoothed: TimeInterval
    package var minimum: TimeInterval
    package var variance: TimeInterval

    package init(smoothed: TimeInterval = 0, minimum: TimeInterval = 0, variance: TimeInterval = 0) {
        self.smoothed = smoothed
        self.minimum = minimum
        self.variance = variance
    }
}
