package import CausewayProtocols
package import CausewaySystem
package import CausewayTypes
package import CausewayWire

/// How a connection was established. Times are measured with the monotonic clock.
package struct EstablishmentFacts: Sendable {
    package struct Resolution: Sendable {
        /// The time from ``EstablishmentFacts/started`` until the first addresses were known.
        package var duration: Duration
        package var addressCount: Int
        package var origin: AddressOrigin
    }

    /// One DNS query with its answer.
    package struct Query: Sendable {
        package var type: DNSRecordType
        package var answer: DNSAnswer
        package var origin: AddressOrigin
        /// When the answer arrived, as the time since ``EstablishmentFacts/started``.
        package var answered: Duration
    }

    /// One attempt to connect to an address.
    package struct Attempt: Sendable {
        package enum Outcome: Equatable, Sendable {
            case pending
            case connected
            case failed(CInt)
            /// The attempt was ended because another attempt won, or because the program skipped or cancelled it.
            case abandoned
        }

        package var candidate: Int
        package var address: SocketAddress
        /// The attempt's start time, since ``EstablishmentFacts/started``.
        package var started: Duration
        package var ended: Duration?
        package var outcome = Outcome.pending
        /// The attempt's interface; `nil` for the system's default choice.
        package var interface: NWInterface?
    }

    /// The transport's byte counts and TCP information at the time when the connection became ready.
    package struct Baseline: Sendable {
        package var information: TCPInformation?
        package var received: UInt64
        package var sent: UInt64
    }

    package var started: Duration = .zero
    package var attemptStarted: Duration = .zero
    /// When the transport was connected; `nil` for an accepted connection.
    package var connected: Duration?
    /// The time at which all protocols were ready.
    package var finished: Duration = .zero
    package var previousAttempts = 0
    /// The transport's byte counts and TCP information at the time when the connection became ready; `nil` if the
    /// connection has no protocols above the transport.
    package var baseline: Baseline?
    package var firstAddress: SocketAddress?
    /// Whether an attempt lost its source address because the network changed. This member lies in padding before
    /// `resolution`, so it needs no additional memory.
    package var lostNetwork = false
    package var resolution: Resolution?
    /// The DNS queries in chronological order; empty if the endpoint is an address.
    ///
    /// The list ``attempts`` has the same order, and can be empty too.
    package var queries: [Query] = []
    package var attempts: [Attempt] = []
    package var attemptCount = 0

    package init() {}
}
