/// A route, as the kernel reports it (`RTM_NEWROUTE`, rtnetlink(7)).
package struct NetlinkRoute: Equatable, Sendable {
    /// The destination family; always IPv4 or IPv6.
    package var family: InternetAddress.Family
    /// The destination prefix. Its length is 0 for a default route.
    package var destination: NetlinkPrefix
    package var selector = Selector()
    /// The routing table. The default rules consult ``localTable``, then ``mainTable`` and, for IPv4, ``defaultTable``.
    package var table: UInt32
    package var kind: Kind
    /// The route's origin, an `RTPROT_` value: 2 means the kernel, 3 boot, 4 an administrator, 9 a router
    /// advertisement, 16 DHCP.
    package var origin: UInt8
    package var scope: NetlinkAddress.Scope
    package var flags: Flags
    package var metric = Metric()
    /// The source address that the kernel uses on this route for packets from sockets that are not bound to an address.
    package var preferredSource: InternetAddress?
    /// The route's MTU in bytes; `nil` if the route does not set an MTU.
    package var mtu: Int?
    /// The next hops, at least one for ``Kind/unicast`` routes. Several next hops share the traffic.
    package var nextHops: [NextHop] = []

    package static let mainTable: UInt32 = 254
    package static let localTable: UInt32 = 255
    package static let defaultTable: UInt32 = 253

    /// The conditions that a packet must meet to use a route, in addition to the route's destination.
    package struct Selector: Equatable, Sendable {
        /// The source prefix; `nil` if the route applies to all sources. IPv6 only.
        package var source: NetlinkPrefix?
        /// The TOS value that a packet must have to use the route (`IPTOS_TOS_MASK`); 0 if the route applies to all
        /// packets. IPv4 only.
        package var typeOfService: UInt8 = 0
    }

    /// The order of routes to the same destination. The kernel uses the route with the lowest metric.
    package struct Metric: Comparable, Sendable {
        package var priority: UInt32 = 0
        /// The advertised router preference between otherwise equal routes (RFC 4191 §2.1). IPv6 only.
        package var preference: Preference = .medium

        package static func < (one: Metric, other: Metric) -> Bool {
            (one.priority, one.preference.rank) < (other.priority, other.preference.rank)
        }
    }

    /// A router's preference (RFC 4191 §2.1).
    package enum Preference: UInt8, Sendable {
        case medium = 0
        case high = 1
        case low = 3

        /// The rank in the order of preference. The value 0 is the highest preference.
        fileprivate var rank: Int {
            switch self {
            case .high: 0
            case .medium: 1
            case .low: 2
            }
        }
    }

    /// A route's next hop.
    package struct NextHop: Equatable, Sendable {
        /// The router; `nil` if the destinations are on-link. Its family may differ from the route's family.
        package var gateway: InternetAddress?
        /// The outgoing interface index; `nil` if the kernel chooses it for each lookup.
        package var interfaceIndex: Int?
        /// The traffic share relative to the other next hops, from 1 to 256.
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

    /// A route's type (`RTN_` values).
    package struct Kind: RawRepresentable, Hashable, Sendable {
        package var rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Forwards the packet.
        package static let unicast = Kind(rawValue: 1)
        /// Delivers the packet to this host.
        package static let local = Kind(rawValue: 2)
        package static let broadcast = Kind(rawValue: 3)
        package static let anycast = Kind(rawValue: 4)
        package static let multicast = Kind(rawValue: 5)
        /// Drops the packet silently.
        package static let blackhole = Kind(rawValue: 6)
        /// Drops the packet and reports that no route exists.
        package static let unreachable = Kind(rawValue: 7)
        /// Drops the packet and reports that it is prohibited.
        package static let prohibit = Kind(rawValue: 8)
        /// Continues with the next routing rule, as if this table had no route.
        package static let nextTable = Kind(rawValue: 9)
    }

    /// Flags of a route, with the values of the `RTM_F_` constants.
    package struct Flags: OptionSet, Hashable, Sendable {
        package var rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// The kernel has cached this route for one destination, for example to store a path MTU. It is not a
        /// configured route.
        package static let cloned = Flags(rawValue: 0x200)
    }

    /// Next hop flags (`RTNH_F_` values).
    package struct HopFlags: OptionSet, Hashable, Sendable {
        package var rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The interface is disabled.
        package static let dead = HopFlags(rawValue: 1)
        /// The gateway is directly reachable (on-link), although no prefix includes it.
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
        let address = destination ?? NetlinkPrefix.all(family).address
        self.destination = NetlinkPrefix(address, length: prefixLength)
        self.table = table
        self.kind = kind
        self.origin = origin
        self.scope = scope
        self.flags = flags
    }

    /// Whether this is a configured unicast route for all addresses.
    package var isDefault: Bool { destination.length == 0 && kind == .unicast && !flags.contains(.cloned) }
}
