internal import CCausewayLinux
internal import CausewayTypes
package import CausewayWire

/// The local address that the kernel selects as the source for packets to a destination.
///
/// Also contains the properties of this address that determine the order of destinations (RFC 6724 §6).
package struct SourceAddress: Hashable, Sendable {
    package var address: InternetAddress
    package var prefixLength: Int
    package var isDeprecated: Bool

    // The lock is held while the kernel is queried. A query takes some microseconds, and other callers wait for its
    // end.
    private static let memory = LockedValue(SourceAddressMemory())

    /// Returns the source address that the kernel selects for each destination; `nil` if there is no route. Sends no
    /// packets.
    ///
    /// - Parameters:
    ///   - destinations: The addresses, with their ports.
    ///   - interface: The name of the only interface to use; `nil` permits all interfaces.
    package static func toward(_ destinations: [SocketAddress], over interface: String? = nil) -> [SourceAddress?] {
        memory.withLock { $0.sources(toward: destinations, over: interface) }
    }

    /// - Parameters:
    ///   - destination: The destination address. It needs a port, because connect(2) requires one.
    ///   - interface: The name of the only permitted interface; `nil` permits all interfaces.
    static func local(toward destination: SocketAddress, over interface: String?) -> InternetAddress? {
        // Connecting a datagram socket looks up the route and sends no packet.
        guard let socket = try? Socket.open(destination.family, .datagram) else { return nil }
        if let interface, (try? Socket.bindToInterface(named: interface, socket.rawValue)) == nil { return nil }
        // For a broadcast address, connect(2) fails unless SO_BROADCAST is set.
        if destination.family == .ipv4 { try? Socket.set(.broadcast, to: 1, on: socket.rawValue) }
        guard (try? Socket.connect(socket.rawValue, to: destination)) != nil else { return nil }
        switch Socket.localAddress(socket.rawValue) {
        case .ipv4(let bits, _): return .ipv4(IPv4Address(bits: bits))
        case .ipv6(let high, let low, _, _): return .ipv6(IPv6Address(high: high, low: low))
        case .unix, nil: return nil
        }
    }

    /// Returns this host's addresses.
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
    /// Creates a socket address from an IP address and a port.
    package init(_ address: InternetAddress, port: UInt16) {
        switch address {
        case .ipv4(let address): self.init(address, port: port)
        case .ipv6(let address): self.init(address, port: port)
        }
    }

    /// The address without its port; `nil` for paths. An IPv6 address with a scope includes its interface.
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
