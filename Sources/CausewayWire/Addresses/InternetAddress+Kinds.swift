package import CausewayTypes

extension InternetAddress {
    /// Returns the address with the scope `interface` if the address is link-local; otherwise returns the address unchanged (RFC 4007 §6).
    package func scoped(to interface: NWInterface) -> InternetAddress {
        guard case .ipv6(let address) = self, address.isLinkLocal || address.multicastScope == .linkLocal else {
            return self
        }
        return .ipv6(IPv6Address(high: address.high, low: address.low, interface: interface))
    }

    /// The address without its interface scope. Routes and packets contain addresses in this form.
    package var unscoped: InternetAddress {
        switch self {
        case .ipv4(let address): .ipv4(IPv4Address(bits: address.bits))
        case .ipv6(let address): .ipv6(IPv6Address(high: address.high, low: address.low))
        }
    }

    /// The interface to which the address is scoped; `nil` if it has no scope.
    package var interface: NWInterface? {
        switch self {
        case .ipv4(let address): address.interface
        case .ipv6(let address): address.interface
        }
    }

    /// Whether the address is a loopback address: 127/8 or `::1` (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3).
    package var isLoopback: Bool {
        switch self {
        case .ipv4(let address): address.bits >> 24 == 127
        case .ipv6(let address): address.isLoopback
        }
    }

    package var isLinkLocal: Bool {
        switch self {
        case .ipv4(let address): address.isLinkLocal
        case .ipv6(let address): address.isLinkLocal
        }
    }

    package var isMulticast: Bool {
        switch self {
        case .ipv4(let address): address.isMulticast
        case .ipv6(let address): address.isMulticast
        }
    }

    /// Whether the address is `0.0.0.0` or `::`.
    package var isUnspecified: Bool {
        switch self {
        case .ipv4(let address): address.bits == 0
        case .ipv6(let address): address.isAny
        }
    }
}
