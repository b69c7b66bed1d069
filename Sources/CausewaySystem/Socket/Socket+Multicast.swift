internal import CCausewayLinux

extension Socket {
    /// Joins a multicast group on one interface, for all senders or only for `source` (RFC 4607 §1).
    ///
    /// Joining a group twice is not an error.
    package static func join(
        _ group: SocketAddress, on interface: UInt32, from source: SocketAddress?, _ fd: CInt
    ) throws(SystemError) {
        let result = try change(group, source) { cw_join_group(fd, $0, interface, $1) }
        // The error EADDRINUSE means that the socket is still a member of the group, for example after the interface
        // was down. With a source, EADDRNOTAVAIL means the same.
        guard result != -EADDRINUSE, !(source != nil && result == -EADDRNOTAVAIL) else { return }
        try check(result, "setsockopt(MCAST_JOIN_GROUP)")
    }

    /// Leaves a group joined with ``join(_:on:from:_:)``. Ignores errors, because a socket has no memberships on a
    /// removed interface.
    package static func leave(_ group: SocketAddress, on interface: UInt32, from source: SocketAddress?, _ fd: CInt) {
        _ = try? change(group, source) { cw_leave_group(fd, $0, interface, $1) }
    }

    /// Binds a multicast socket to a port that other sockets and programs may share.
    ///
    /// Sockets with `SO_REUSEPORT` on one IPv4 port form a set. If only one socket on the port has joined the packet's
    /// group on the receiving interface, the kernel delivers the packet to any socket in the set, even to one that has
    /// not joined. `SO_REUSEADDR` shares the port without this effect. For IPv4, `SO_REUSEPORT` is therefore set only
    /// if binding fails without it. For IPv6 it is always set, because the effect does not exist there.
    package static func bindShared(_ fd: CInt, to address: SocketAddress) throws(SystemError) {
        try set(.reuseAddress, to: 1, on: fd)
        if address.family == .ipv4 {
            do throws(SystemError) {
                return try bind(fd, to: address)
            } catch {
                guard error.errno == Errno.addressInUse else { throw error }
            }
        }
        try set(.reusePort, to: 1, on: fd)
        try bind(fd, to: address)
    }

    private static func change(
        _ group: SocketAddress, _ source: SocketAddress?,
        _ body: (UnsafePointer<cw_address>, UnsafePointer<cw_address>?) -> CInt
    ) throws(SystemError) -> CInt {
        var kernelGroup = try group.kernelForm()
        guard let source else { return body(&kernelGroup, nil) }
        var kernelSource = try source.kernelForm()
        return withUnsafePointer(to: &kernelSource) { pointer in body(&kernelGroup, pointer) }
    }
}

extension SocketAddress {
    /// Whether this is a multicast address (RFC 1112 §4, RFC 4291 §2.7).
    package var isMulticast: Bool {
        switch self {
        case .ipv4(let bits, _): bits >> 28 == 0b1110
        case .ipv6(let high, _, _, _): high >> 56 == 0xff
        case .unix: false
        }
    }

    /// Returns the address with another port, and for IPv6 optionally with another scope.
    package func with(port: UInt16, scope: UInt32? = nil) -> SocketAddress {
        switch self {
        case .ipv4(let bits, _): .ipv4(bits: bits, port: port)
        case .ipv6(let high, let low, _, let old): .ipv6(high: high, low: low, port: port, scope: scope ?? old)
        case .unix: self
        }
    }

    /// Returns whether both addresses belong to the same host. Ignores ports. Compares scopes only if both are given.
    package func isSameHost(as other: SocketAddress) -> Bool {
        switch (self, other) {
        case (.ipv4(let one, _), .ipv4(let two, _)): one == two
        case (.ipv6(let high, let low, _, let scope), .ipv6(let high2, let low2, _, let scope2)):
            high == high2 && low == low2 && (scope == scope2 || scope == 0 || scope2 == 0)
        case (.unix(let one), .unix(let two)): one == two
        case (.ipv4, _), (.ipv6, _), (.unix, _): false
        }
    }
}
