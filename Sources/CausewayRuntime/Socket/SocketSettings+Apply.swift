package import CausewaySystem

extension SocketSettings {
    /// Opens a socket and applies these settings to it, except the local address.
    ///
    /// Fails if an option that the program relies on cannot be set, such as the required interface. Not all kernels
    /// support the tuning options, so these are set only if possible.
    package func openSocket(_ family: SocketAddress.Family) throws(SystemError) -> Descriptor {
        let isDatagram = transport == .udp
        let wantsMultipath = tcp.isMultipath && !isDatagram && family != .unix
        let descriptor: Descriptor
        do throws(SystemError) {
            descriptor = try Socket.open(family, isDatagram ? .datagram : .stream, multipath: wantsMultipath)
        } catch  where wantsMultipath && Self.lacksMultipath(error) {
            // The kernel does not support Multipath TCP, so use plain TCP (RFC 8684 §1.4).
            descriptor = try Socket.open(family, .stream)
        }
        try configure(descriptor.rawValue, family)
        return descriptor
    }

    private static func lacksMultipath(_ error: SystemError) -> Bool {
        [Errno.protocolNotSupported, Errno.invalid, Errno.protocolOptionNotSupported].contains(error.errno)
    }

    /// Applies the settings to an existing socket, for example an accepted socket.
    package func configure(_ fd: CInt, _ family: SocketAddress.Family) throws(SystemError) {
        guard family != .unix else { return }
        if let requiredInterface { try Socket.bindToInterface(named: requiredInterface.name, fd) }
        // For TCP, the kernel does not apply its option IPV6_MTU. So limit the segment size instead. The limit is the
        // minimum MTU minus 60 bytes for headers (RFC 9293 §3.7.1).
        if transport == .tcp, ip.useMinimumMTU, family == .ipv6, tcp.maximumSegmentSize == 0 {
            try? Socket.set(.maximumSegment, to: 1_220, on: fd)
        }
        if transport == .tcp { tcp.configure(fd) } else { configureDatagrams(fd, family) }
        ip.configure(fd, family)
    }

    /// The size of the receive buffer in bytes. The kernel doubles the value, because it also stores its own headers
    /// there.
    ///
    /// The buffer holds 7,000 datagrams of 1,200 bytes each. At 20,000 datagrams per second, this is a third of a
    /// second.
    package static let datagramReceiveBuffer = 8 << 20

    private func configureDatagrams(_ fd: CInt, _ family: SocketAddress.Family) {
        // A receive buffer of the default size holds about a hundred datagrams. A fast peer can send more than that
        // before the program's thread runs again, so use a larger buffer.
        if (try? Socket.set(.forcedReceiveBuffer, to: Self.datagramReceiveBuffer, on: fd)) == nil {
            try? Socket.set(.receiveBuffer, to: Self.datagramReceiveBuffer, on: fd)
        }
        try? Socket.set(.sendBuffer, to: 1 << 20, on: fd)
        try? Socket.set(.receiveOffload, to: 1, on: fd)
        // Always permit sending to a broadcast address: a program that uses such an address does so on purpose.
        if family == .ipv4 { try? Socket.set(.broadcast, to: 1, on: fd) }
        if noChecksum, family == .ipv4 { try? Socket.set(.noChecksum, to: 1, on: fd) }
        try? Socket.set(.receiveIPv4TrafficClass, to: 1, on: fd)
        if family == .ipv6 { try? Socket.set(.receiveIPv6TrafficClass, to: 1, on: fd) }
        if ip.wantsReceiveTime { try? Socket.set(.receiveTime, to: 1, on: fd) }
        if ip.disableMulticastLoopback {
            try? Socket.set(family == .ipv6 ? .ipv6MulticastLoop : .ipv4MulticastLoop, to: 0, on: fd)
        }
    }

    /// Binds an outgoing socket before it connects. This is needed if a local address is set, or if other sockets must
    /// be able to share this socket's port.
    package func bindLocal(_ fd: CInt, _ family: SocketAddress.Family) throws(SystemError) {
        if reuseLocalAddress, family != .unix {
            try Socket.set(.reuseAddress, to: 1, on: fd)
            try Socket.set(.reusePort, to: 1, on: fd)
        }
        guard let localAddress else {
            // Other sockets can share a port bound with bind(2), but not a port selected by the kernel in connect(2).
            guard reuseLocalAddress, family != .unix else { return }
            return try Socket.bind(
                fd, to: family == .ipv4 ? .ipv4(bits: 0, port: 0) : .ipv6(high: 0, low: 0, port: 0, scope: 0))
        }
        switch (localAddress.family, family) {
        case (.ipv4, .ipv4), (.ipv6, .ipv6), (.unix, .unix): try Socket.bind(fd, to: localAddress)
        case (.ipv4, .ipv6) where localAddress.isWildcard, (.ipv6, .ipv4) where localAddress.isWildcard:
            let port = localAddress.port
            try Socket.bind(
                fd, to: family == .ipv4 ? .ipv4(bits: 0, port: port) : .ipv6(high: 0, low: 0, port: port, scope: 0))
        default: throw SystemError(errno: Errno.addressNotAvailable, call: "bind")
        }
    }
}

extension SocketSettings.TCP {
    fileprivate func configure(_ fd: CInt) {
        func set(_ option: SocketOption, _ value: Int) { try? Socket.set(option, to: value, on: fd) }
        if noDelay { set(.noDelay, 1) }
        if noPush { set(.cork, 1) }
        if let keepalive {
            set(.keepalive, 1)
            if keepalive.idleSeconds > 0 { set(.keepaliveIdle, keepalive.idleSeconds) }
            if keepalive.intervalSeconds > 0 { set(.keepaliveInterval, keepalive.intervalSeconds) }
            if keepalive.count > 0 { set(.keepaliveCount, keepalive.count) }
        }
        if maximumSegmentSize > 0 { set(.maximumSegment, maximumSegmentSize) }
        // The kernel has only one timer (TCP_USER_TIMEOUT) for unacknowledged data and for closed windows. Use the
        // shorter of the two time limits for both.
        let limits = [dropTimeSeconds, persistTimeoutSeconds].filter { $0 > 0 }
        if let limit = limits.min() { set(.userTimeout, min(limit, Int(CInt.max) / 1_000) * 1_000) }
        if giveUpUnansweredFin { set(.finTimeout, 5) }
        if quickAcknowledgements { set(.quickAck, 1) }
    }
}

extension SocketSettings.IP {
    fileprivate func configure(_ fd: CInt, _ family: SocketAddress.Family) {
        func set(_ option: SocketOption, _ value: Int) { try? Socket.set(option, to: value, on: fd) }
        let isV6 = family == .ipv6
        if hopLimit > 0 {
            set(.ipv4TimeToLive, Int(hopLimit))
            set(.ipv4MulticastTimeToLive, Int(hopLimit))
            if isV6 {
                set(.ipv6HopLimit, Int(hopLimit))
                set(.ipv6MulticastHopLimit, Int(hopLimit))
            }
        }
        if dscp > 0 {
            set(.ipv4TrafficClass, Int(dscp) << 2)
            if isV6 { set(.ipv6TrafficClass, Int(dscp) << 2) }
        }
        if priority > 0 { set(.priority, priority) }
        if disableFragmentation {
            // IP_PMTUDISC_DO: the kernel never fragments packets. If a packet is too long, sending fails with EMSGSIZE.
            set(.ipv4PathDiscovery, 2)
            if isV6 { set(.ipv6DontFragment, 1) }
        }
        // RFC 8200 §5: each link has an MTU of at least 1,280 bytes.
        if useMinimumMTU, isV6 { set(.ipv6MaximumTransmission, 1_280) }
        switch addressPreference {
        case .system: break
        // The values are IPV6_PREFER_SRC_TMP and IPV6_PREFER_SRC_PUBLIC (RFC 5014 §4).
        case .temporary: if isV6 { set(.ipv6AddressPreference, 1) }
        case .stable: if isV6 { set(.ipv6AddressPreference, 2) }
        }
    }
}

extension SocketAddress {
    package var isWildcard: Bool {
        switch self {
        case .ipv4(0, _), .ipv6(0, 0, _, _): true
        case .ipv4, .ipv6, .unix: false
        }
    }
}
