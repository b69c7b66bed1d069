internal import CCausewayLinux

/// A socket option with its usual name.
package struct SocketOption: Sendable {
    fileprivate let shim: CInt
    package let name: String

    private init(_ option: cw_option, _ name: String) {
        shim = CInt(option.rawValue)
        self.name = name
    }

    package static let reuseAddress = SocketOption(CW_REUSE_ADDRESS, "SO_REUSEADDR")
    package static let reusePort = SocketOption(CW_REUSE_PORT, "SO_REUSEPORT")
    package static let ipv6Only = SocketOption(CW_V6_ONLY, "IPV6_V6ONLY")
    package static let noDelay = SocketOption(CW_NO_DELAY, "TCP_NODELAY")
    package static let cork = SocketOption(CW_CORK, "TCP_CORK")
    package static let keepalive = SocketOption(CW_KEEPALIVE, "SO_KEEPALIVE")
    /// The time without traffic before the first keepalive probe, in seconds.
    package static let keepaliveIdle = SocketOption(CW_KEEP_IDLE, "TCP_KEEPIDLE")
    /// The time between two keepalive probes, in seconds.
    package static let keepaliveInterval = SocketOption(CW_KEEP_INTERVAL, "TCP_KEEPINTVL")
    package static let keepaliveCount = SocketOption(CW_KEEP_COUNT, "TCP_KEEPCNT")
    package static let maximumSegment = SocketOption(CW_MAX_SEGMENT, "TCP_MAXSEG")
    /// The time that sent data may wait for an acknowledgement, in milliseconds.
    package static let userTimeout = SocketOption(CW_USER_TIMEOUT_MS, "TCP_USER_TIMEOUT")
    package static let quickAck = SocketOption(CW_QUICK_ACK, "TCP_QUICKACK")
    package static let fastOpenConnect = SocketOption(CW_FAST_OPEN_CONNECT, "TCP_FASTOPEN_CONNECT")
    package static let fastOpenQueue = SocketOption(CW_FAST_OPEN_QUEUE, "TCP_FASTOPEN")
    /// The time that a closed connection waits for the peer's FIN, in seconds.
    package static let finTimeout = SocketOption(CW_LINGER2, "TCP_LINGER2")
    package static let ipv4TimeToLive = SocketOption(CW_V4_TTL, "IP_TTL")
    package static let ipv6HopLimit = SocketOption(CW_V6_HOPS, "IPV6_UNICAST_HOPS")
    package static let ipv4TrafficClass = SocketOption(CW_V4_TOS, "IP_TOS")
    package static let ipv6TrafficClass = SocketOption(CW_V6_TCLASS, "IPV6_TCLASS")
    package static let priority = SocketOption(CW_PRIORITY, "SO_PRIORITY")
    package static let ipv4PathDiscovery = SocketOption(CW_V4_DONT_FRAGMENT, "IP_MTU_DISCOVER")
    package static let ipv6DontFragment = SocketOption(CW_V6_DONT_FRAGMENT, "IPV6_DONTFRAG")
    package static let ipv6MaximumTransmission = SocketOption(CW_V6_MINIMUM_MTU, "IPV6_MTU")
    package static let receiveIPv4TrafficClass = SocketOption(CW_RECEIVE_V4_TOS, "IP_RECVTOS")
    package static let receiveIPv6TrafficClass = SocketOption(CW_RECEIVE_V6_TCLASS, "IPV6_RECVTCLASS")
    package static let receiveIPv4PacketInfo = SocketOption(CW_RECEIVE_V4_PACKET_INFO, "IP_PKTINFO")
    package static let receiveIPv6PacketInfo = SocketOption(CW_RECEIVE_V6_PACKET_INFO, "IPV6_RECVPKTINFO")
    package static let receiveTime = SocketOption(CW_RECEIVE_TIME, "SO_TIMESTAMPNS")
    package static let ipv4MulticastLoop = SocketOption(CW_V4_MULTICAST_LOOP, "IP_MULTICAST_LOOP")
    package static let ipv6MulticastLoop = SocketOption(CW_V6_MULTICAST_LOOP, "IPV6_MULTICAST_LOOP")
    package static let ipv4MulticastTimeToLive = SocketOption(CW_V4_MULTICAST_TTL, "IP_MULTICAST_TTL")
    package static let ipv6MulticastHopLimit = SocketOption(CW_V6_MULTICAST_HOPS, "IPV6_MULTICAST_HOPS")
    /// Whether the socket also receives datagrams for multicast groups that it has not joined, but that other sockets
    /// have joined.
    package static let ipv4MulticastAll = SocketOption(CW_V4_MULTICAST_ALL, "IP_MULTICAST_ALL")
    package static let ipv6MulticastAll = SocketOption(CW_V6_MULTICAST_ALL, "IPV6_MULTICAST_ALL")
    package static let broadcast = SocketOption(CW_BROADCAST, "SO_BROADCAST")
    package static let noChecksum = SocketOption(CW_NO_CHECKSUM, "SO_NO_CHECK")
    package static let receiveOffload = SocketOption(CW_UDP_RECEIVE_OFFLOAD, "UDP_GRO")
    package static let receiveBuffer = SocketOption(CW_RECEIVE_BUFFER, "SO_RCVBUF")
    /// The size of the receive buffer, which may exceed `net.core.rmem_max`. A program needs CAP_NET_ADMIN to set this
    /// option.
    package static let forcedReceiveBuffer = SocketOption(CW_FORCED_RECEIVE_BUFFER, "SO_RCVBUFFORCE")
    package static let sendBuffer = SocketOption(CW_SEND_BUFFER, "SO_SNDBUF")
    package static let ipv6AddressPreference = SocketOption(CW_V6_ADDRESS_PREFERENCE, "IPV6_ADDR_PREFERENCES")
    /// The path MTU. This option can only be read, and only after connect(2).
    package static let ipv4PathMTU = SocketOption(CW_V4_MTU, "IP_MTU")
    /// The path MTU. This option can only be read, and only after connect(2).
    package static let ipv6PathMTU = SocketOption(CW_V6_MTU, "IPV6_MTU")
}

extension Socket {
    package static func set(_ option: SocketOption, to value: Int, on fd: CInt) throws(SystemError) {
        try check(cw_set_option(fd, option.shim, CInt(clamping: value)), "setsockopt(\(option.name))")
    }

    package static func get(_ option: SocketOption, of fd: CInt) throws(SystemError) -> Int {
        Int(try check(cw_get_option(fd, option.shim), "getsockopt(\(option.name))"))
    }

    /// Binds to one interface: the socket sends and receives only there.
    package static func bindToInterface(named name: String, _ fd: CInt) throws(SystemError) {
        try check(cw_bind_to_device(fd, name), "setsockopt(SO_BINDTODEVICE)")
    }
}

/// The kernel's data about one TCP connection (TCP_INFO).
package struct TCPInformation: Sendable {
    package var smoothedRTT: Duration
    package var rttVariance: Duration
    package var minimumRTT: Duration
    package var maximumSegment: Int
    package var bytesReceived: UInt64
    package var bytesSent: UInt64
    package var bytesRetransmitted: UInt64
    package var segmentsIn: UInt64
    package var segmentsOut: UInt64
    package var outOfOrderSegments: UInt64
    package var duplicateSegments: UInt64

    package init(of fd: CInt) throws(SystemError) {
        var info = cw_tcp_info()
        try check(cw_tcp_information(fd, &info), "getsockopt(TCP_INFO)")
        self.init(info)
    }

    init(_ info: cw_tcp_info) {
        smoothedRTT = .microseconds(Int64(info.rtt_us))
        rttVariance = .microseconds(Int64(info.rtt_variance_us))
        // The kernel sets this field to its maximum value if it has not measured a round-trip time yet.
        minimumRTT = info.minimum_rtt_us == .max ? .zero : .microseconds(Int64(info.minimum_rtt_us))
        maximumSegment = Int(info.send_mss)
        bytesReceived = info.bytes_received
        bytesSent = info.bytes_sent
        bytesRetransmitted = info.bytes_retransmitted
        segmentsIn = info.segments_in
        segmentsOut = info.segments_out
        outOfOrderSegments = UInt64(info.receive_out_of_order)
        duplicateSegments = UInt64(info.duplicate_acks)
    }
}
