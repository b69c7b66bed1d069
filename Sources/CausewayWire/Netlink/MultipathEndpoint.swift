internal import CausewayTypes

/// An address that the kernel's path manager uses for Multipath TCP (RFC 8684 §3), as the generic netlink family
/// `mptcp_pm` reports it.
package struct MultipathEndpoint: Hashable, Sendable {
    /// The address identifier in MPTCP options; 0 until the kernel assigns one.
    package var id: UInt8
    package var address: InternetAddress
    /// The outgoing interface for subflows from this address; `nil` if the route determines the interface.
    package var interfaceIndex: Int?
    package var usage: Usage

    /// How the path manager uses an address (`MPTCP_PM_ADDR_FLAG_` values).
    package struct Usage: OptionSet, Hashable, Sendable {
        package var rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// Announce the address to peers (RFC 8684 §3.4.1).
        package static let signal = Usage(rawValue: 1)
        /// Open a subflow from this address on each connection.
        package static let subflow = Usage(rawValue: 2)
        /// Send data on the address's subflows only if no other subflow works (RFC 8684 §3.3.8).
        package static let backup = Usage(rawValue: 4)
    }

    /// The generic netlink family name.
    package static let familyName = "mptcp_pm"
    /// The maximum number of endpoints in a network namespace (`MPTCP_PM_ADDR_MAX`). A connection can have at most the
    /// same number of subflows in addition to its first one.
    package static let limit = 8

    package init(id: UInt8 = 0, address: InternetAddress, interfaceIndex: Int?, usage: Usage) {
        self.id = id
        self.address = address
        self.interfaceIndex = interfaceIndex
        self.usage = usage
    }

    /// Parses a reply to ``GenericNetlinkRequest/multipathEndpoints(_:)``. Returns `nil` for other messages.
    package init?(_ message: GenericNetlinkMessage) {
        guard let described = message.attributes.first(where: { $0.type == 1 })?.nested else { return nil }
        var family: InternetAddress.Family?
        var (bytes, id, index): (NetlinkAttribute?, UInt8, Int32) = (nil, 0, 0)
        var usage = Usage()
        for attribute in described {
            switch attribute.type {
            case 1: family = attribute.integer(UInt16.self).flatMap(Self.family)
            case 2: id = attribute.integer() ?? 0
            case 3, 4: bytes = attribute
            case 6: usage = Usage(rawValue: attribute.integer() ?? 0)
            case 7: index = attribute.integer() ?? 0
            default: break
            }
        }
        guard let family, let address = bytes?.address(family) else { return nil }
        self.init(id: id, address: address, interfaceIndex: index > 0 ? Int(index) : nil, usage: usage)
    }

    private static func family(_ number: UInt16) -> InternetAddress.Family? {
        [.ipv4, .ipv6].first { UInt16($0.rawValue) == number }
    }

    /// The encoded endpoint: `MPTCP_PM_ADDR_ATTR_` attributes inside the attribute `MPTCP_PM_ATTR_ADDR`.
    fileprivate var attribute: [UInt8] {
        var parts: [UInt8] = []
        parts.append(attribute: 1, host: UInt16(address.family.rawValue))
        if id != 0 { parts.append(attribute: 2, host: id) }
        parts.append(attribute: address.family == .ipv4 ? 3 : 4, address.bytes)
        parts.append(attribute: 6, host: usage.rawValue)
        if let interfaceIndex { parts.append(attribute: 7, host: Int32(truncatingIfNeeded: interfaceIndex)) }
        var whole: [UInt8] = []
        whole.append(attribute: 0x8001, parts)  // NLA_F_NESTED
        return whole
    }
}

/// The limits for a connection's subflows (`MPTCP_PM_CMD_GET_LIMITS`).
package struct MultipathLimits: Hashable, Sendable {
    /// Maximum number of addresses to accept from the peer.
    package var acceptedAddresses: UInt32
    /// Maximum number of additional subflows.
    package var subflows: UInt32

    package init(acceptedAddresses: UInt32, subflows: UInt32) {
        self.acceptedAddresses = acceptedAddresses
        self.subflows = subflows
    }

    package init?(_ message: GenericNetlinkMessage) {
        func number(_ type: UInt16) -> UInt32? { message.attributes.first { $0.type == type }?.integer() }
        guard let acceptedAddresses = number(2), let subflows = number(3) else { return nil }
        self.init(acceptedAddresses: acceptedAddresses, subflows: subflows)
    }
}

/// Requests to the generic netlink family `mptcp_pm`. The parameter `family` is the number of this family.
extension GenericNetlinkRequest {
    package static func add(_ endpoint: MultipathEndpoint, _ family: UInt16) -> GenericNetlinkRequest {
        GenericNetlinkRequest(family: family, command: 1, attributes: endpoint.attribute)
    }

    /// Removes an endpoint and closes the subflows from its address.
    package static func remove(_ endpoint: MultipathEndpoint, _ family: UInt16) -> GenericNetlinkRequest {
        GenericNetlinkRequest(family: family, command: 2, attributes: endpoint.attribute)
    }

    package static func multipathEndpoints(_ family: UInt16) -> GenericNetlinkRequest {
        GenericNetlinkRequest(family: family, command: 3, isListing: true)
    }

    package static func set(_ limits: MultipathLimits, _ family: UInt16) -> GenericNetlinkRequest {
        var attributes: [UInt8] = []
        attributes.append(attribute: 2, host: limits.acceptedAddresses)
        attributes.append(attribute: 3, host: limits.subflows)
        return GenericNetlinkRequest(family: family, command: 5, attributes: attributes)
    }

    package static func multipathLimits(_ family: UInt16) -> GenericNetlinkRequest {
        GenericNetlinkRequest(family: family, command: 6)
    }

    /// Sets or clears an endpoint's backup flag. The change also applies to existing subflows (RFC 8684 §3.3.8).
    package static func change(_ endpoint: MultipathEndpoint, _ family: UInt16) -> GenericNetlinkRequest {
        GenericNetlinkRequest(family: family, command: 7, attributes: endpoint.attribute)
    }
}
