package import CausewayProtocols
package import CausewaySystem
package import CausewayTypes
package import CausewayWire

/// When and how a connection came about. Times are of the monotonic clock.
package struct EstablishmentFacts: Sendable {
    package struct Resolution: Sendable {
        /// Until the first addresses were there.
        package var duration: Duration
        package var addressCount: Int
        package var origin: AddressOrigin
    }

    /// One question that was answered.
    package struct Query: Sendable {
        package var type: DNSRecordType
        package var answer: DNSAnswer
        package var origin: AddressOrigin
        /// Since ``EstablishmentFacts/started``.
        package var answered: Duration
    }

    /// One address that was tried.
    package struct Attempt: Sendable {
        package enum Outcome: Equatable, Sendable {
            case pending
            case connected
            case failed(CInt)
            /// Another one was faster, or the program left it.
            case abandoned
        }

        package var candidate: Int
        package var address: SocketAddress
        /// Since ``EstablishmentFacts/started``.
        package var started: Duration
        package var ended: Duration?
        package var outcome = Outcome.pending
        /// Where it is another one than the system would take.
        package var interface: NWInterface?
    }

    /// What the transport had counted when the connection became ready.
    package struct Baseline: Sendable {
        package var information: TCPInformation?
        package var received: UInt64
        package var sent: UInt64
    }

    package var started: Duration = .zero
    package var attemptStarted: Duration = .zero
    /// When the transport was connected; `nil` for what a listener accepted.
    package var connected: Duration?
    /// When every protocol was ready.
    package var finished: Duration = .zero
    package var previousAttempts = 0
    /// Only where protocols above the transport talked before.
    package var baseline: Baseline?
    package var firstAddress: SocketAddress?
    /// An attempt has lost its source address on the way: the network is another one now. It stands here because here it takes no room.
    package var lostNetwork = false
    package var resolution: Resolution?
    /// Of names: what was asked, and every attempt, in order.
    package var queries: [Query] = []
    package var attempts: [Attempt] = []
    package var attemptCount = 0

    package init() {}
}
