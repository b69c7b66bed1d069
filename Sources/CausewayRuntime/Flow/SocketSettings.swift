package import CausewaySystem
package import CausewayTypes

/// Everything that parameters say about a socket, as plain values: what an option object means once it is frozen.
///
/// Zero and `nil` mean the system's default.
package struct SocketSettings: Equatable, Sendable {
    package enum Transport: Equatable, Sendable { case tcp, udp }
    package enum IPVersion: Equatable, Sendable { case any, v4, v6 }
    package enum AddressPreference: Equatable, Sendable { case system, temporary, stable }

    package struct Keepalive: Equatable, Sendable {
        package var idleSeconds: Int
        package var intervalSeconds: Int
        package var count: Int

        package init(idleSeconds: Int = 0, intervalSeconds: Int = 0, count: Int = 0) {
            self.idleSeconds = idleSeconds
            self.intervalSeconds = intervalSeconds
            self.count = count
        }
    }

    package struct TCP: Equatable, Sendable {
        package var noDelay = false
        package var noPush = false
        package var keepalive: Keepalive?
        package var maximumSegmentSize = 0
        /// Of the handshake.
        package var connectionTimeoutSeconds = 0
        /// How long a peer may keep its window closed.
        package var persistTimeoutSeconds = 0
        /// How long sent data may stay unacknowledged.
        package var dropTimeSeconds = 0
        package var giveUpUnansweredFin = false
        package var quickAcknowledgements = false
        package var fastOpen = false
        package var isMultipath = false

        package init() {}
    }

    package struct IP: Equatable, Sendable {
        package var version: IPVersion = .any
        package var hopLimit: UInt8 = 0
        package var useMinimumMTU = false
        package var disableFragmentation = false
        package var wantsReceiveTime = false
        package var addressPreference: AddressPreference = .system
        package var disableMulticastLoopback = false
        /// The six bits of RFC 2474 §3.
        package var dscp: UInt8 = 0
        /// `SO_PRIORITY`, 0 to 6.
        package var priority = 0

        package init() {}
    }

    package var transport: Transport
    package var tcp = TCP()
    package var ip = IP()
    /// UDP over IPv4 without checksum.
    package var noChecksum = false
    package var reuseLocalAddress = false
    package var localAddress: SocketAddress?
    package var requiredInterface: NWInterface?
    package var prohibitedInterfaces: [NWInterface] = []
    package var requiredInterfaceType: NWInterface.InterfaceType?
    package var prohibitedInterfaceTypes: [NWInterface.InterfaceType] = []
    package var prohibitsExpensive = false
    package var prohibitsConstrained = false
    package var allowsUltraConstrained = false
    /// The first content may leave before the handshake ends, if it does no harm when it arrives twice.
    package var allowsFastOpen = false
    /// The protocol above speaks first: nothing need leave before it does (RFC 7413 §4).
    package var defersConnect = false
    /// A listener accepts peers of its own link only.
    package var acceptsLocalOnly = false
    package var resolution = Resolution()

    /// How names are looked up.
    package struct Resolution: Equatable, Sendable {
        /// Answers are shared by those with the same number.
        package var partition: UInt64 = 0
        /// Answers past their time to live are tried while fresh ones are asked for.
        package var allowsExpired = false

        package init() {}
    }

    package init(transport: Transport) {
        self.transport = transport
    }

    /// Whether a client waits for content before it connects, so that the two can leave together.
    package var connectsWithContent: Bool { allowsFastOpen && transport == .tcp }
    /// How long a peer may keep the protocols above the transport waiting: as for the transport itself, by default as long as
    /// other systems wait for that.
    var handshakeLimit: Duration {
        .seconds(tcp.connectionTimeoutSeconds > 0 ? tcp.connectionTimeoutSeconds : 75)
    }
    var usesFastOpen: Bool { transport == .tcp && (tcp.fastOpen || allowsFastOpen) }
}

/// Makes the protocols above a connected flow, from the bottom up, or says why there can be none.
package typealias LayerMaker = @Sendable (Flow) -> Result<[StackLayer], Failure>

/// Settings that many connections share: all that one listener accepts, for instance.
package final class FrozenSettings: Sendable {
    package let value: SocketSettings
    /// As the value says: asked before each content, and the value is large.
    package let connectsWithContent: Bool
    /// Makes the protocols above the transport for one attempt; `nil` when there are none.
    package let makeLayers: LayerMaker?
    /// Ways to try one after the other; none where there is nothing but the direct one.
    package let routes: [Route]
    /// Finds the ways each time a connection begins, where they are not known before.
    package let planner: (any RoutePlanner)?
    /// The unfinished handshakes of connections that a listener accepted.
    package let openings: UnfinishedOpenings?

    package init(
        _ value: SocketSettings, makeLayers: LayerMaker? = nil, routes: [Route] = [],
        planner: (any RoutePlanner)? = nil, openings: UnfinishedOpenings? = nil
    ) {
        self.value = value
        self.openings = openings
        connectsWithContent = value.connectsWithContent
        self.makeLayers = routes.first?.makeLayers ?? makeLayers
        self.routes = routes
        self.planner = planner
    }
}
