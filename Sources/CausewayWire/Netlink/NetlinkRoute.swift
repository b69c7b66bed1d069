/// A route as the kernel describes it (`RTM_NEWROUTE`, rtnetlink(7)).
package struct NetlinkRoute: Equatable, Sendable {
    /// The family of the destinations; never anything but IPv4 or IPv6.
    package var family: InternetAddress.Family
    /// Where the destinations start; `nil` when the route is for every address.
    package var destination: InternetAddress?
    /// How many leading bits of a destination count. 0 makes this a default route.
    package var prefixLength: Int
    /// Where the sources start that the route is for; `nil` when it is for all of them. IPv6 only.
    package var source: InternetAddress?
    /// How many leading bits of a source count.
    package var sourcePrefixLength = 0
    /// Which packets the route is for: those with these bits (`IPTOS_TOS_MASK`), or all with 0. IPv4 only.
    package var typeOfService: UInt8 = 0
    /// The routing table. Only ``mainTable`` is consulted for every packet unless rules say otherwise.
    package var table: UInt32
    package var kind: Kind
    /// Who made the route, an `RTPROT_` value: 2 kernel, 3 boot, 4 administrator, 9 router advertisement, 16 DHCP.
    package var origin: UInt8
    package var scope: NetlinkAddress.Scope
    package var flags: Flags
    /// The route's metric: among routes to the same destinations the least wins.
    package var priority: UInt32 = 0
    /// How a router wants to be ranked among routes that are otherwise alike (RFC 4191 §2.1). IPv6 only.
    package var preference: Preference = .medium
    /// The source address that packets get when their socket has none.
    package var preferredSource: InternetAddress?
    /// The largest packet for these destinations, in bytes, where it was set on the route.
    package var mtu: Int?
    /// The ways out, at least one for ``Kind/unicast`` routes; several share the packets.
    package var nextHops: [NextHop] = []

    package static let mainTable: UInt32 = 254
    package static let localTable: UInt32 = 255
    package static let defaultTable: UInt32 = 253

    /// A router's rank (RFC 4191 §2.1).
    package enum Preference: UInt8, Sendable {
        case medium = 0
        case high = 1
        case low = 3
    }

    /// One way out.
    package struct NextHop: Equatable, Sendable {
        /// The router. `nil` when destinations are on the link itself. Its family may differ from the route's.
        package var gateway: InternetAddress?
        /// The outgoing interface; `nil` where the kernel decides at each look-up.
        package var interfaceIndex: Int?
        /// The share of packets relative to the other hops, from 1 to 256.
        package var weight: Int
        package var flags: HopFlags

        package init(
            gateway: InternetAddress? = nil, interfaceIndex: Int? = nil, weight: Int = 1, flags: HopFlags = []
        ) {
            self.gateway = gateway
            self.interfaceIndex = interfaceIndex
            self.weight = weight
            self.flags = flags
        }
    }

    /// What a route does with a packet (`RTN_` values).
    package struct Kind: RawRepresentable, Hashable, Sendable {
        package var rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Sends it on.
        package static let unicast = Kind(rawValue: 1)
        /// Delivers it here.
        package static let local = Kind(rawValue: 2)
        package static let broadcast = Kind(rawValue: 3)
        package static let anycast = Kind(rawValue: 4)
        package static let multicast = Kind(rawValue: 5)
        /// Drops it silently.
        package static let blackhole = Kind(rawValue: 6)
        /// Drops it and reports that no route exists.
        package static let unreachable = Kind(rawValue: 7)
        /// Drops it and reports that it is forbidden.
        package static let prohibit = Kind(rawValue: 8)
        /// Goes on with the next rule as if the table had no route.
        package static let nextTable = Kind(rawValue: 9)
    }

    /// `RTM_F_` values.
    package struct Flags: OptionSet, Hashable, Sendable {
        package var rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// An exception the kernel noted for one destination, such as a path MTU: no configured route.
        package static let cloned = Flags(rawValue: 0x200)
    }

    /// `RTNH_F_` values.
    package struct HopFlags: OptionSet, Hashable, Sendable {
        package var rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The interface is switched off.
        package static let dead = HopFlags(rawValue: 1)
        /// The gateway is on the link although no prefix says so.
        package static let onLink = HopFlags(rawValue: 4)
        /// The interface has no carrier.
        package static let linkDown = HopFlags(rawValue: 16)
    }

    package init(
        family: InternetAddress.Family, destination: InternetAddress? = nil, prefixLength: Int = 0,
        table: UInt32 = mainTable, kind: Kind = .unicast, origin: UInt8 = 0,
        scope: NetlinkAddress.Scope = .universe, flags: Flags = []
    ) {
        self.family = family
        self.destination = destination
        self.prefixLength = prefixLength
        self.table = table
        self.kind = kind
        self.origin = origin
        self.scope = scope
        self.flags = flags
    }

    /// Whether the route takes packets to every address and sends them on.
    package var isDefault: Bool { prefixLength == 0 && kind == .unicast && !flags.contains(.cloned) }
}
