package import CausewaySystem

extension SocketSettings {
    /// Opens a listening socket and binds it to the local address. If none is set, binds it to the wildcard address of
    /// the permitted IP versions.
    package func openListeningSocket(port: UInt16) throws(SystemError) -> Descriptor {
        if let localAddress { return try openListeningSocket(at: localAddress.with(port: port)) }
        switch ip.version {
        case .v4: return try openListeningSocket(at: .ipv4(bits: 0, port: port))
        case .v6: return try openListeningSocket(at: .ipv6(high: 0, low: 0, port: port, scope: 0))
        case .any:
            do throws(SystemError) {
                return try openListeningSocket(at: .ipv6(high: 0, low: 0, port: port, scope: 0))
            } catch  where error.errno == Errno.familyNotSupported || error.errno == Errno.addressNotAvailable {
                // The host does not support IPv6. So listen only on IPv4.
                return try openListeningSocket(at: .ipv4(bits: 0, port: port))
            }
        }
    }

    /// The maximum number of pending TCP Fast Open connections. The first packet of such a connection carries data
    /// before the handshake is complete, so its source address may be forged. This limit bounds the harm from such
    /// packets (RFC 7413 §5.1).
    private static let fastOpenQueue = 256

    private func openListeningSocket(at address: SocketAddress) throws(SystemError) -> Descriptor {
        let descriptor = try openSocket(address.family)
        let fd = descriptor.rawValue
        switch address.family {
        case .unix: if reuseLocalAddress, case .unix(let path) = address { LocalPath.removeIfAbandoned(path) }
        case .ipv6: try Socket.set(.ipv6Only, to: ip.version == .v6 || !address.isWildcard ? 1 : 0, on: fd)
        case .ipv4: break
        }
        if address.family != .unix {
            // Without SO_REUSEADDR, the port stays in use for a minute after one of its connections has ended. Even
            // with SO_REUSEADDR, the kernel refuses a second listener on the port.
            if transport == .tcp || reuseLocalAddress { try Socket.set(.reuseAddress, to: 1, on: fd) }
            if reuseLocalAddress { try Socket.set(.reusePort, to: 1, on: fd) }
            reportDestinations(fd, address)
        }
        try Socket.bind(fd, to: address)
        // TCP Fast Open is only an optimization, so ignore an error. If the kernel does not permit it for servers
        // (net.ipv4.tcp_fastopen), clients use the normal handshake.
        if usesFastOpen, address.family != .unix { try? Socket.set(.fastOpenQueue, to: Self.fastOpenQueue, on: fd) }
        return descriptor
    }

    /// Applies the settings to an inherited socket, which the service manager has already bound.
    package func configureInherited(_ fd: CInt) throws(SystemError) {
        guard let address = Socket.localAddress(fd) else { return }
        try configure(fd, address.family)
        reportDestinations(fd, address)
    }

    /// Requests that the kernel reports the address to which each datagram was sent. This address is the source of
    /// replies.
    private func reportDestinations(_ fd: CInt, _ address: SocketAddress) {
        guard transport == .udp, address.isWildcard else { return }
        try? Socket.set(.receiveIPv4PacketInfo, to: 1, on: fd)
        if address.family == .ipv6 { try? Socket.set(.receiveIPv6PacketInfo, to: 1, on: fd) }
    }
}

extension SocketAddress {
    /// Returns the address with `port`. An address that already has a port is returned unchanged, and so is a Unix
    /// socket's address.
    fileprivate func with(port: UInt16) -> SocketAddress {
        guard self.port == 0 else { return self }
        switch self {
        case .ipv4(let bits, _): return .ipv4(bits: bits, port: port)
        case .ipv6(let high, let low, _, let scope): return .ipv6(high: high, low: low, port: port, scope: scope)
        case .unix: return self
        }
    }
}
