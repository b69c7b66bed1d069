internal import CCausewayLinux
internal import CausewayTypes
package import CausewayWire

/// The local address that packets to some destination would carry, and what the choice between destinations asks of it (RFC 6724 §6).
package struct SourceAddress: Hashable, Sendable {
    package var address: InternetAddress
    package var prefixLength: Int
    package var isDeprecated: Bool

    // The kernel is asked under the lock, for some microseconds: whoever comes meanwhile wants to know the same.
    private static let memory = LockedValue(SourceAddressMemory())

    /// What the kernel says, for each destination. Nothing is sent. `nil` where no route leads there.
    ///
    /// - Parameter interface: The only interface that may be used, by name.
    package static func toward(_ destinations: [SocketAddress], over interface: String? = nil) -> [SourceAddress?] {
        memory.withLock { $0.sources(toward: destinations, over: interface) }
    }

    /// - Parameter destination: With a port: without one it cannot be connected to.
    static func local(toward destination: SocketAddress, over interface: String?) -> InternetAddress? {
        // A connected datagram socket has asked for the route, and has sent nothing.
        guard let socket = try? Socket.open(destination.family, .datagram) else { return nil }
        if let interface, (try? Socket.bindToInterface(named: interface, socket.rawValue)) == nil { return nil }
        // A broadcast address has a route like any other, which the kernel keeps from sockets that have not asked for it.
        if destination.family == .ipv4 { try? Socket.set(.broadcast, to: 1, on: socket.rawValue) }
        guard (try? Socket.connect(socket.rawValue, to: destination)) != nil else { return nil }
        switch Socket.localAddress(socket.rawValue) {
        case .ipv4(let bits, _): return .ipv4(IPv4Address(bits: bits))
        case .ipv6(let high, let low, _, _): return .ipv6(IPv6Address(high: high, low: low))
        case .unix, nil: return nil
        }
    }

    /// The addresses of this host.
    static func assigned() -> [NetlinkAddress] {
        guard var socket = try? NetlinkSocket() else { return [] }
        let listed = try? socket.list(.addresses(.unspecified)) { message -> NetlinkAddress? in
            guard case .address(let address) = message else { return nil }
            return address
        }
        return listed ?? []
    }
}

extension SocketAddress {
    /// Where a DNS server is.
    package init(_ address: InternetAddress, port: UInt16) {
        switch address {
        case .ipv4(let address): self.init(address, port: port)
        case .ipv6(let address): self.init(address, port: port)
        }
    }

    /// The address without its port; `nil` for paths. An IPv6 address with a scope carries its interface.
    package var internetAddress: InternetAddress? {
        switch unmapped {
        case .ipv4(let bits, _): .ipv4(IPv4Address(bits: bits))
        case .ipv6(let high, let low, _, 0): .ipv6(IPv6Address(high: high, low: low))
        case .ipv6(let high, let low, _, let scope):
            .ipv6(IPv6Address(high: high, low: low, interface: NWInterface(index: Int(scope))))
        case .unix: nil
        }
    }
}
