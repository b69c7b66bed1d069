package import CausewaySystem
package import CausewayTypes

/// Socket settings as plain values. They are copied from a parameters object when that object is frozen.
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
        /// The time limit for the TCP handshake in seconds; 0 for the kernel's default.
        package var connectionTimeoutSeconds = 0
        /// How long a peer may keep its window closed; 0 for the kernel's default.
        package var persistTimeoutSeconds = 0
        /// How long sent data may stay unacknowledged; 0 for the kernel's default.
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
        /// The six bits of the Differentiated Services Code Point (RFC 2474 §3).
        package var dscp: UInt8 = 0
        /// The value of the socket option `SO_PRIORITY`, from 0 to 6.
        package var priority = 0

        package init() {}
    }

    package var transport: Transport
    package var tcp = TCP()
    package var ip = IP()
    /// Whether UDP over IPv4 is sent without a checksum.
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
    /// Whether the first content may be sent before the TCP handshake ends. This content may arrive more than once, so
    /// it must be safe to replay.
    package var allowsFastOpen = false
    /// Whether the protocol above TCP sends first. If so, connect(2) need not send the SYN. The first write can then
    /// send the SYN together with content (RFC 7413 §4).
    package var defersConnect = false
    /// Whether a listener accepts only peers on the local link.
    package var acceptsLocalOnly = false
    package var resolution = Resolution()

    /// Settings for name resolution.
    package struct Resolution: Equatable, Sendable {
        /// The partition of the resolver's cache. Only connections with the same number share cached DNS answers.
        package var partition: UInt64 = 0
        /// Whether expired answers are used until the resolver gets fresh answers.
        package var allowsExpired = false

        package init() {}
    }

    package init(transport: Transport) {
        self.transport = transport
    }

    /// Whether a client delays its connection attempt until the program sends content. The first packet can then carry
    /// this content.
    package var connectsWithContent: Bool { allowsFastOpen && transport == .tcp }
    /// The time limit for handshakes above the transport. This is the TCP connection timeout, if it is set. Otherwise
    /// it is 75 s, as on other systems.
    var handshakeLimit: Duration {
        .seconds(tcp.connectionTimeoutSeconds > 0 ? tcp.connectionTimeoutSeconds : 75)
    }
    /// The time limit for an accepted connection's handshakes. Its default is shorter than for outgoing connections,
    /// because a peer can open any number of connections to this host.
    var acceptedHandshakeLimit: Duration {
        .seconds(tcp.connectionTimeoutSeconds > 0 ? tcp.connectionTimeoutSeconds : 20)
    }
    var usesFastOpen: Bool { transport == .tcp && (tcp.fastOpen || allowsFastOpen) }
}
