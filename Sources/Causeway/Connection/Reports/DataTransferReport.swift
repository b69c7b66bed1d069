public import FoundationEssentials

extension NWConnection {
    /// Data transferred by a connection during a period.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public struct DataTransferReport: CustomDebugStringConvertible, Sendable {
        /// The duration of the period, in seconds.
        public let duration: TimeInterval
        /// The sum over all paths. A value that cannot be added, such as a round-trip time, is taken from the primary path.
        public let aggregatePathReport: NWConnection.DataTransferReport.PathReport
        /// One report for each path that was used.
        public let pathReports: [NWConnection.DataTransferReport.PathReport]

        /// - Parameters:
        ///   - duration: The duration of the period, in seconds.
        ///   - primary: The report for the connection's current path.
        ///   - others: Reports for further paths.
        package init(duration: TimeInterval, primary: PathReport, others: [PathReport] = []) {
            self.duration = duration
            pathReports = [primary] + others
            aggregatePathReport = others.reduce(primary) { $0.adding($1) }
        }

        /// The most important values in one line.
        public var debugDescription: String {
            let sum = aggregatePathReport
            return """
                \(duration) s on \(sum.interface.name): received \(sum.receivedApplicationByteCount) bytes, \
                sent \(sum.sentApplicationByteCount) bytes, retransmitted \(sum.retransmittedTransportByteCount) bytes, \
                rtt \(sum.transportSmoothedRTT) s (minimum \(sum.transportMinimumRTT) s, variance \
                \(sum.transportRTTVariance) s)
                """
        }

        /// Data transferred over one path.
        ///
        /// Counterpart: macOS 10.15, iOS 13.
        public struct PathReport: Sendable {
            /// The path's interface.
            public let interface: NWInterface
            /// The radio technology; `nil` if unknown.
            ///
            /// Counterpart: macOS 12, iOS 15.
            public var radioType: NWInterface.RadioType? { radio }
            /// IP packets received.
            public let receivedIPPacketCount: UInt64
            /// IP packets sent.
            public let sentIPPacketCount: UInt64
            /// Bytes that the transport received.
            public let receivedTransportByteCount: UInt64
            /// Bytes that the transport received more than once.
            public let receivedTransportDuplicateByteCount: UInt64
            /// Bytes that the transport received out of order.
            public let receivedTransportOutOfOrderByteCount: UInt64
            /// Bytes that the transport sent.
            public let sentTransportByteCount: UInt64
            /// Bytes that the transport retransmitted.
            public let retransmittedTransportByteCount: UInt64
            /// The smoothed round-trip time, in seconds.
            public let transportSmoothedRTT: TimeInterval
            /// The minimum round-trip time, in seconds.
            public let transportMinimumRTT: TimeInterval
            /// The variation of the round-trip time (RFC 6298 §2), in seconds.
            public let transportRTTVariance: TimeInterval
            /// Bytes that the program received.
            public let receivedApplicationByteCount: UInt64
            /// Bytes that the program sent.
            public let sentApplicationByteCount: UInt64

            private let radio: NWInterface.RadioType?

            package init(
                interface: NWInterface, radioType: NWInterface.RadioType? = nil, counters: TransferCounters,
                roundTrip: RoundTripTimes = RoundTripTimes()
            ) {
                self.interface = interface
                radio = radioType
                receivedIPPacketCount = counters.receivedIPPackets
                sentIPPacketCount = counters.sentIPPackets
                receivedTransportByteCount = counters.receivedTransportBytes
                receivedTransportDuplicateByteCount = counters.receivedTransportDuplicateBytes
                receivedTransportOutOfOrderByteCount = counters.receivedTransportOutOfOrderBytes
                sentTransportByteCount = counters.sentTransportBytes
                retransmittedTransportByteCount = counters.retransmittedTransportBytes
                receivedApplicationByteCount = counters.receivedApplicationBytes
                sentApplicationByteCount = counters.sentApplicationBytes
                transportSmoothedRTT = roundTrip.smoothed
                transportMinimumRTT = roundTrip.minimum
                transportRTTVariance = roundTrip.variance
            }

            private var counters: TransferCounters {
                TransferCounters(
                    receivedIPPackets: receivedIPPacketCount, sentIPPackets: sentIPPacketCount,
                    receivedTransportBytes: receivedTransportByteCount,
                    receivedTransportDuplicateBytes: receivedTransportDuplicateByteCount,
                    receivedTransportOutOfOrderBytes: receivedTransportOutOfOrderByteCount,
                    sentTransportBytes: sentTransportByteCount,
                    retransmittedTransportBytes: retransmittedTransportByteCount,
                    receivedApplicationBytes: receivedApplicationByteCount,
                    sentApplicationBytes: sentApplicationByteCount)
            }

            fileprivate func adding(_ other: PathReport) -> PathReport {
                PathReport(
                    interface: interface, radioType: radio, counters: counters.combined(with: other.counters, &+),
                    roundTrip: RoundTripTimes(
                        smoothed: transportSmoothedRTT, minimum: transportMinimumRTT, variance: transportRTTVariance))
            }
        }
    }
}
