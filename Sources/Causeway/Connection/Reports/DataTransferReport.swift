public import FoundationEssentials

extension NWConnection {
    /// Data transferred by a connection during a period.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public struct DataTransferReport: CustomDebugStringConvertible, Sendable {
        /// The duration of the period, in seconds.
        public let duration: TimeInterval
        /// The sum of the reports for all paths. A value that cannot be added, such as a round-trip time, is taken from
        /// the primary path.
        public let aggregatePathReport: NWConnection.DataTransferReport.PathReport
        /// One report for each path that was used.
        public let pathReports: [NWConnection.DataTransferReport.PathReport]

        /// - Parameters:
        ///   - duration: The duration of the period, in seconds.
        ///   - primary: The report for the connection's current path.
        ///   - others: Reports for the connection's other paths.
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
            public var receivedIPPacketCount: UInt64 { counters.receivedIPPackets }
            /// IP packets sent.
            public var sentIPPacketCount: UInt64 { counters.sentIPPackets }
            /// Bytes that the transport received.
            public var receivedTransportByteCount: UInt64 { counters.receivedTransportBytes }
            /// Bytes that the transport received more than once.
            public var receivedTransportDuplicateByteCount: UInt64 { counters.receivedTransportDuplicateBytes }
            /// Bytes that the transport received out of order.
            public var receivedTransportOutOfOrderByteCount: UInt64 { counters.receivedTransportOutOfOrderBytes }
            /// Bytes that the transport sent.
            public var sentTransportByteCount: UInt64 { counters.sentTransportBytes }
            /// Bytes that the transport retransmitted.
            public var retransmittedTransportByteCount: UInt64 { counters.retransmittedTransportBytes }
            /// The smoothed round-trip time, in seconds.
            public var transportSmoothedRTT: TimeInterval { roundTrip.smoothed }
            /// The minimum round-trip time, in seconds.
            public var transportMinimumRTT: TimeInterval { roundTrip.minimum }
            /// The variation of the round-trip time (RFC 6298 §2), in seconds.
            public var transportRTTVariance: TimeInterval { roundTrip.variance }
            /// Bytes that the program received.
            public var receivedApplicationByteCount: UInt64 { counters.receivedApplicationBytes }
            /// Bytes that the program sent.
            public var sentApplicationByteCount: UInt64 { counters.sentApplicationBytes }

            private let radio: NWInterface.RadioType?
            private let counters: TransferCounters
            private let roundTrip: RoundTripTimes

            package init(
                interface: NWInterface, radioType: NWInterface.RadioType? = nil, counters: TransferCounters,
                roundTrip: RoundTripTimes = RoundTripTimes()
            ) {
                self.interface = interface
                radio = radioType
                self.counters = counters
                self.roundTrip = roundTrip
            }

            fileprivate func adding(_ other: PathReport) -> PathReport {
                PathReport(
                    interface: interface, radioType: radio, counters: counters.combined(with: other.counters, &+),
                    roundTrip: roundTrip)
            }
        }
    }
}
