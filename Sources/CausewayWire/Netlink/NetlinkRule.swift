/// A routing policy rule, which selects the routing table for packets, as the kernel reports it (`RTM_NEWRULE`, ip-rule(8)).
package struct NetlinkRule: Equatable, Sendable {
    /// The rule's address family; always IPv4 or IPv6.
    package var family: InternetAddress.Family
    package var action: Action
    /// The priority. The kernel evaluates rules in ascending order.
    package var priority: UInt32 = 0
    /// The routing table that an ``Action/lookUp`` rule uses.
    package var table: UInt32
    package var selector = Selector()
    /// For ``Action/jump``, the priority of the rule with which processing continues.
    package var target: UInt32 = 0
    /// If a found route's prefix length is at most this value, the rule does not use the route. `nil` if the rule
    /// accepts all routes.
    package var suppressedLength: Int?
    /// Whether to use the VRF routing table for the packet's interface instead of ``table`` (`FRA_L3MDEV`).
    package var usesControllerTable = false

    /// Describes the packets to which a routing rule applies.
    package struct Selector: Equatable, Sendable {
        /// The source prefix to match; `nil` for all sources.
        package var source: NetlinkPrefix?
        /// The destination prefix to match; `nil` for all destinations.
        package var destination: NetlinkPrefix?
        package var typeOfService: UInt8 = 0
        /// The input interface to match. Packets from this host count as received on loopback.
        package var incoming: String?
        /// The name of the output interface to match. A packet matches if its socket is bound to this interface.
        package var outgoing: String?
        package var mark = Mark()
        /// The user IDs to match; `nil` for all users.
        package var users: ClosedRange<UInt32>?
        /// The transport protocol number to match; 0 for all protocols.
        package var transport: UInt8 = 0
        package var sourcePorts: ClosedRange<UInt16>?
        package var destinationPorts: ClosedRange<UInt16>?
        /// Whether the selector is inverted. An inverted selector applies to all packets that do not match it.
        package var isInverted = false
    }

    /// The packet mark to match, and the mask for the bits to compare.
    package struct Mark: Equatable, Sendable {
        package var value: UInt32 = 0
        package var mask: UInt32 = 0

        package init(value: UInt32 = 0, mask: UInt32 = 0) {
            self.value = value
            self.mask = mask
        }

        package func matches(_ mark: UInt32) -> Bool { (mark ^ value) & mask == 0 }
    }

    /// A rule's action for matching packets (`FR_ACT_` values).
    package struct Action: RawRepresentable, Hashable, Sendable {
        package var rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Looks up the route in ``NetlinkRule/table``. If that table contains no route, the kernel continues with the
        /// next rule.
        package static let lookUp = Action(rawValue: 1)
        /// Continues with the rule that has the priority ``NetlinkRule/target``.
        package static let jump = Action(rawValue: 2)
        package static let nothing = Action(rawValue: 3)
        package static let blackhole = Action(rawValue: 6)
        package static let unreachable = Action(rawValue: 7)
        package static let prohibit = Action(rawValue: 8)
    }

    package init(
        family: InternetAddress.Family, action: Action = .lookUp, priority: UInt32,
        table: UInt32 = NetlinkRoute.mainTable
    ) {
        self.family = family
        self.action = action
        self.priority = priority
        self.table = table
    }
}

extension NetlinkRule {
    /// Parses `struct fib_rule_hdr` and the attributes after it.
    ///
    /// - Returns: `nil` for families other than IPv4 and IPv6, for example multicast routing tables.
    init?(parsing body: inout ByteReader) throws(WireError) {
        let start = body.position
        let family = InternetAddress.Family(rawValue: try body.readHostInteger())
        // Only the IPv4 and IPv6 headers are checked. For any other family, return before the rest of the header is
        // read.
        guard family.bitWidth > 0 else { return nil }
        let destinationLength: UInt8 = try body.readHostInteger()
        let sourceLength: UInt8 = try body.readHostInteger()
        let typeOfService: UInt8 = try body.readHostInteger()
        let table: UInt8 = try body.readHostInteger()
        try body.skip(2)
        let action: UInt8 = try body.readHostInteger()
        let flags: UInt32 = try body.readHostInteger()
        guard max(destinationLength, sourceLength) <= family.bitWidth else {
            throw .invalid("prefix length", at: start + 1)
        }
        self.init(family: family, action: Action(rawValue: action), priority: 0, table: UInt32(table))
        selector.typeOfService = typeOfService
        selector.isInverted = flags & 2 != 0  // FIB_RULE_INVERT
        try body.readAttributes { (type, value) throws(WireError) in
            try adopt(attribute: type, &value, (source: Int(sourceLength), destination: Int(destinationLength)))
        }
        // If the rule has no mask, compare all bits of the packet mark.
        if selector.mark.value != 0, selector.mark.mask == 0 { selector.mark.mask = .max }
    }

    /// Stores one `FRA_` attribute of a routing rule. The attribute numbers are from linux/fib_rules.h.
    private mutating func adopt(
        attribute type: UInt16, _ value: inout ByteReader, _ lengths: (source: Int, destination: Int)
    ) throws(WireError) {
        switch type {
        case 1:
            let address = try InternetAddress(parsing: &value, family: family)
            selector.destination = address.map { NetlinkPrefix($0, length: lengths.destination) }
        case 2:
            let address = try InternetAddress(parsing: &value, family: family)
            selector.source = address.map { NetlinkPrefix($0, length: lengths.source) }
        case 4: target = try value.readHostInteger()
        case 6: priority = try value.readHostInteger()
        case 14:
            // A length with all bits set means that the rule has no such limit: it accepts routes of every prefix
            // length.
            let length: UInt32 = try value.readHostInteger()
            suppressedLength = length > 128 ? nil : Int(length)
        case 15: table = try value.readHostInteger()
        case 19: usesControllerTable = try value.readHostInteger() as UInt8 != 0
        default: try selector.adopt(attribute: type, &value)
        }
    }
}

extension NetlinkRule.Selector {
    /// Stores one `FRA_` attribute that does not depend on the address family.
    fileprivate mutating func adopt(attribute type: UInt16, _ value: inout ByteReader) throws(WireError) {
        switch type {
        case 3: incoming = try value.readText()
        case 10: mark.value = try value.readHostInteger()
        case 16: mark.mask = try value.readHostInteger()
        case 17: outgoing = try value.readText()
        case 20: users = Self.range(try value.readHostInteger(), try value.readHostInteger())
        case 22: transport = try value.readHostInteger()
        case 23: sourcePorts = Self.range(try value.readHostInteger(), try value.readHostInteger())
        case 24: destinationPorts = Self.range(try value.readHostInteger(), try value.readHostInteger())
        default: break
        }
    }

    private static func range<Number>(_ lower: Number, _ upper: Number) -> ClosedRange<Number> {
        lower...max(lower, upper)
    }
}
