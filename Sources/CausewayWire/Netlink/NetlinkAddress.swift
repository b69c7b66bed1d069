/// An interface address, as the kernel reports it (`RTM_NEWADDR`, rtnetlink(7)).
package struct NetlinkAddress: Equatable, Sendable {
    /// The interface index.
    package var interfaceIndex: Int
    /// The on-link prefix length in bits.
    package var prefixLength: Int
    package var scope: Scope
    package var flags: Flags
    /// The interface's own address.
    package var address: InternetAddress
    /// The peer's address on a point-to-point link; `nil` on other links.
    package var peer: InternetAddress?
    /// An IPv4 address's label. The default label is the interface name.
    package var label: String?
    /// When the address was created, in 1/100 s on the monotonic clock, modulo 2^32; `nil` if the kernel does not
    /// report it.
    package var created: UInt32?

    /// The scope in which an address or route is valid (`RT_SCOPE_` values).
    package struct Scope: RawRepresentable, Hashable, Sendable {
        package var rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        package static let universe = Scope(rawValue: 0)
        package static let site = Scope(rawValue: 200)
        package static let link = Scope(rawValue: 253)
        package static let host = Scope(rawValue: 254)
        package static let nowhere = Scope(rawValue: 255)
    }

    /// An address's state (`IFA_F_` values).
    package struct Flags: OptionSet, Hashable, Sendable {
        package var rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// In IPv6, a temporary address for privacy (RFC 8981). In IPv4, a secondary address in its network.
        package static let temporary = Flags(rawValue: 0x01)
        /// The address may be used although duplicate address detection is still running (RFC 4429).
        package static let optimistic = Flags(rawValue: 0x04)
        /// Duplicate address detection failed: the address must not be used (RFC 4862 §5.4).
        package static let duplicate = Flags(rawValue: 0x08)
        /// The address is past its preferred lifetime: do not use it for new connections (RFC 4862 §5.5.4).
        package static let deprecated = Flags(rawValue: 0x20)
        /// Duplicate address detection is still running: the address is not usable yet (RFC 4862 §5.4).
        package static let tentative = Flags(rawValue: 0x40)
        /// The address has an infinite lifetime.
        package static let permanent = Flags(rawValue: 0x80)
    }

    package init(
        interfaceIndex: Int, address: InternetAddress, prefixLength: Int, scope: Scope = .universe,
        flags: Flags = [], peer: InternetAddress? = nil, label: String? = nil, created: UInt32? = nil
    ) {
        self.interfaceIndex = interfaceIndex
        self.address = address
        self.prefixLength = prefixLength
        self.scope = scope
        self.flags = flags
        self.peer = peer
        self.label = label
        self.created = created
    }

    /// Whether a socket may be bound to the address now.
    package var isUsable: Bool {
        !flags.contains(.duplicate) && (!flags.contains(.tentative) || flags.contains(.optimistic))
    }

    /// Parses `struct ifaddrmsg` and the attributes after it.
    ///
    /// - Returns: `nil` for families other than IPv4 and IPv6.
    init?(parsing body: inout ByteReader) throws(WireError) {
        let start = body.position
        let family = InternetAddress.Family(rawValue: try body.readHostInteger())
        let prefixLength: UInt8 = try body.readHostInteger()
        let shortFlags: UInt8 = try body.readHostInteger()
        let scope: UInt8 = try body.readHostInteger()
        let index: UInt32 = try body.readHostInteger()
        guard family.bitWidth > 0 else { return nil }
        guard Int(prefixLength) <= family.bitWidth else { throw .invalid("prefix length", at: start + 1) }

        var attributes = Attributes(flags: Flags(rawValue: UInt32(shortFlags)))
        try body.readAttributes { (type, value) throws(WireError) in
            try attributes.adopt(attribute: type, &value, family: family)
        }
        // IFA_LOCAL is the interface's own address. IFA_ADDRESS is the peer's address.
        //
        // If there is no peer, the kernel sends only IFA_ADDRESS for IPv6. For IPv4, it sends the same address in both
        // attributes.
        guard let own = attributes.local ?? attributes.address else { throw .invalid("missing address", at: start) }
        self.init(
            interfaceIndex: Int(index), address: own, prefixLength: Int(prefixLength), scope: Scope(rawValue: scope),
            flags: attributes.flags, peer: attributes.address == own ? nil : attributes.address,
            label: attributes.label, created: attributes.created)
    }

    private struct Attributes {
        var flags: Flags
        var address: InternetAddress?
        var local: InternetAddress?
        var label: String?
        var created: UInt32?

        /// Stores one `IFA_` attribute (numbers: linux/if_addr.h).
        mutating func adopt(
            attribute type: UInt16, _ value: inout ByteReader, family: InternetAddress.Family
        ) throws(WireError) {
            switch type {
            case 1: address = try InternetAddress(parsing: &value, family: family)
            case 2: local = try InternetAddress(parsing: &value, family: family)
            case 3: label = try value.readText()
            // `struct ifa_cacheinfo` begins with the preferred and the valid lifetime. The time of creation comes after
            // them.
            case 6:
                _ = try value.readHostInteger() as UInt64
                created = try value.readHostInteger()
            // This attribute contains all flags. The header has room for only the first eight flags.
            case 8: flags = Flags(rawValue: try value.readHostInteger())
            default: break
            }
        }
    }
}
