/// A routing policy rule as the kernel describes it (`RTM_NEWRULE`, ip-rule(8)): which packets look into which table.
package struct NetlinkRule: Equatable, Sendable {
    /// Never anything but IPv4 or IPv6.
    package var family: InternetAddress.Family
    package var action: Action
    /// The least is asked first.
    package var priority: UInt32 = 0
    /// The table that ``Action/lookUp`` looks into.
    package var table: UInt32
    /// Which sources the rule is for; `nil` when it is for all.
    package var source: Prefix?
    /// Which destinations the rule is for; `nil` when it is for all.
    package var destination: Prefix?
    package var typeOfService: UInt8 = 0
    /// Which interface packets come in on. What this host sends comes in on loopback.
    package var incoming: String?
    /// Which interface the socket is bound to.
    package var outgoing: String?
    /// The packets' mark, and which of its bits count.
    package var mark: UInt32 = 0
    package var markMask: UInt32 = 0
    /// The priority of the rule that ``Action/jump`` goes on with.
    package var target: UInt32 = 0
    /// Answers with prefixes of at most this length do not count; `nil` when all count.
    package var suppressedLength: Int?
    /// Which users' packets the rule is for; `nil` when it is for all.
    package var users: ClosedRange<UInt32>?
    /// The transport protocol's number; 0 for any.
    package var transport: UInt8 = 0
    package var sourcePorts: ClosedRange<UInt16>?
    package var destinationPorts: ClosedRange<UInt16>?
    /// Whether the rule is for what does not match.
    package var isInverted = false
    /// Whether the table is that of the VRF that the packets belong to.
    package var usesControllerTable = false

    /// A block of addresses.
    package struct Prefix: Hashable, Sendable {
        package var address: InternetAddress
        package var length: Int

        package init(_ address: InternetAddress, length: Int) {
            self.address = address
            self.length = length
        }
    }

    /// What a rule does with a packet it is for (`FR_ACT_` values).
    package struct Action: RawRepresentable, Hashable, Sendable {
        package var rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Looks into ``NetlinkRule/table``; without an answer the next rule is asked.
        package static let lookUp = Action(rawValue: 1)
        /// Goes on with rule ``NetlinkRule/target``.
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
    /// Reads `struct fib_rule_hdr` and the attributes behind it.
    ///
    /// - Returns: `nil` for families other than IPv4 and IPv6, which include the multicast routing tables.
    init?(parsing body: inout ByteReader) throws(WireError) {
        let start = body.position
        let family = InternetAddress.Family(rawValue: try body.readHostInteger())
        // Other families' headers are not ours to judge.
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
        self.typeOfService = typeOfService
        isInverted = flags & 2 != 0  // FIB_RULE_INVERT
        try body.readAttributes { (type, value) throws(WireError) in
            try adopt(attribute: type, &value, (source: Int(sourceLength), destination: Int(destinationLength)))
        }
        // A mark without a mask is compared whole.
        if mark != 0, markMask == 0 { markMask = .max }
    }

    /// `FRA_` attributes, numbered in linux/fib_rules.h.
    private mutating func adopt(
        attribute type: UInt16, _ value: inout ByteReader, _ lengths: (source: Int, destination: Int)
    ) throws(WireError) {
        switch type {
        case 1:
            destination = try InternetAddress(parsing: &value, family: family).map {
                Prefix($0, length: lengths.destination)
            }
        case 2: source = try InternetAddress(parsing: &value, family: family).map { Prefix($0, length: lengths.source) }
        case 3: incoming = try value.readText()
        case 4: target = try value.readHostInteger()
        case 6: priority = try value.readHostInteger()
        case 10: mark = try value.readHostInteger()
        case 14:
            // All ones says that nothing is suppressed.
            let length: UInt32 = try value.readHostInteger()
            suppressedLength = length > 128 ? nil : Int(length)
        case 15: table = try value.readHostInteger()
        case 16: markMask = try value.readHostInteger()
        case 17: outgoing = try value.readText()
        case 19: usesControllerTable = try value.readHostInteger() as UInt8 != 0
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
