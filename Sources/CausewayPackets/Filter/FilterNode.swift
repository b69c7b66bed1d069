/// A packet position from which load offsets are counted.
struct FilterPlace: Hashable, Sendable {
    /// The slot in the filter's scratch memory that stores the base position. `nil` means that the base position is the
    /// start of the packet.
    var slot: Int?
    /// The offset of an IPv4 header. The position is moved forward by the length of this header.
    var header: Int?

    static let packet = FilterPlace()
}

/// A base position in a packet, such as the start of a header, plus an offset.
struct FilterOrigin: Hashable, Sendable {
    /// The slot in the filter's scratch memory that holds the base position for `offset`. `nil` means the start of the
    /// packet.
    var slot: Int?
    var offset = 0

    var place: FilterPlace { FilterPlace(slot: slot) }

    /// Returns a load from a packet. Its offset counts from this origin.
    func load(_ size: Int, _ offset: Int) -> FilterLoad {
        FilterLoad(size: size, offset: self.offset + offset, place: place)
    }
}

/// Loads a number from a packet.
struct FilterLoad: Hashable, Sendable {
    /// The byte count: 1, 2 or 4.
    var size: Int
    var offset: Int
    var place = FilterPlace.packet
}

enum FilterComparison: Hashable, Sendable {
    case equal, greater, greaterOrEqual
}

/// An arithmetic expression.
indirect enum FilterExpression: Hashable, Sendable {
    case number(UInt32)
    /// The packet's length on the wire, in bytes.
    case length
    /// Loads packet bytes. The offset is computed, and counts from a position in the packet.
    case load(size: Int, offset: Int, place: FilterPlace, index: FilterExpression)
    case binary(FilterExpression, FilterOperator, FilterExpression)
    case negative(FilterExpression)
    /// A position, as the number of bytes from the start of the packet.
    case place(FilterPlace)

    var constant: UInt32? {
        if case .number(let number) = self { return number }
        return nil
    }

    /// Returns an expression that loads the byte at a fixed packet offset.
    static func byte(_ offset: Int) -> FilterExpression {
        .load(size: 1, offset: offset, place: .packet, index: .number(0))
    }
    static func word(_ offset: Int) -> FilterExpression {
        .load(size: 4, offset: offset, place: .packet, index: .number(0))
    }
    static func littleEndian16(_ offset: Int) -> FilterExpression {
        .binary(.binary(byte(offset + 1), .left, .number(8)), .or, byte(offset))
    }
}

enum FilterOperator: String, Hashable, Sendable {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case modulo = "%"
    case and = "&"
    case or = "|"
    case xor = "^"
    case left = "<<"
    case right = ">>"
}

/// A filter as a tree, with all names and defaults resolved for a link type.
indirect enum FilterNode: Hashable, Sendable {
    case constant(Bool)
    /// Compares the masked load with the value.
    case test(FilterLoad, mask: UInt32, FilterComparison, UInt32)
    /// Tests whether one of the ranges contains the loaded value, after the mask is applied to it. The ranges are
    /// sorted and do not overlap.
    case member(FilterLoad, mask: UInt32, [ClosedRange<UInt32>])
    case relation(FilterExpression, FilterComparison, FilterExpression)
    case all([FilterNode])
    case any([FilterNode])
    case not(FilterNode)
    /// Stores a position in a slot of the scratch memory. As a condition, this node is always true.
    ///
    /// The position depends on the packet, for example the start of a tunnelled frame.
    case mark(slot: Int, FilterExpression)
    /// Whether the protocol `proto` occurs in a chain of headers. The chain begins with a network header.
    case chain(version6: Bool, at: Int, slot: Int?, proto: UInt32)
    /// A set of hosts. It is one node instead of one test for each address. So several sets can be merged into one
    /// search.
    case hosts(FilterHosts)

    static func equal(_ load: FilterLoad, _ value: UInt32, mask: UInt32 = .max) -> FilterNode {
        .test(load, mask: mask, .equal, value)
    }

    /// Returns a filter test that compares a loaded value with a protocol number.
    static func equal(_ load: FilterLoad, _ number: IPProtocolNumber) -> FilterNode {
        .equal(load, UInt32(number.rawValue))
    }
}

/// A test for a set of IPv4 hosts or networks. The test has several forms. Each form loads the addresses from one kind
/// of packet, for example IP or ARP.
struct FilterHosts: Hashable, Sendable {
    /// One form of the test. It applies to packets that satisfy `condition`, and loads their source and destination
    /// addresses.
    struct Form: Hashable, Sendable {
        var condition: FilterNode
        var source: FilterLoad
        var destination: FilterLoad
    }
    var forms: [Form]
    var direction: FilterDirection
    var mask: UInt32
    var addresses: [UInt32]

    /// This host set as filter tests. The tests compare addresses with single values or ranges.
    var expanded: FilterNode {
        let ranges = FilterRanges.merged(addresses.map { $0...$0 })
        let nodes = forms.map { form in
            FilterNode.all([form.condition, tests(form, ranges)])
        }
        return nodes.count == 1 ? nodes[0] : .any(nodes)
    }

    private func tests(_ form: Form, _ ranges: [ClosedRange<UInt32>]) -> FilterNode {
        func one(_ load: FilterLoad) -> FilterNode {
            if ranges.count == 1, ranges[0].count == 1 { return .equal(load, ranges[0].lowerBound, mask: mask) }
            return .member(load, mask: mask, ranges)
        }
        switch direction {
        case .source: return one(form.source)
        case .destination: return one(form.destination)
        case .both: return .all([one(form.source), one(form.destination)])
        case .either, .unspecified: return .any([one(form.source), one(form.destination)])
        }
    }

    /// Whether the filter operator `or` can merge this set with `other`.
    ///
    /// All fields except the addresses must be equal, and the direction must not be `both`. With the direction `both`,
    /// the merged set would also accept packets between hosts from different sets.
    func joins(_ other: FilterHosts) -> Bool {
        forms == other.forms && direction == other.direction && mask == other.mask && direction != .both
    }
}

enum FilterRanges {
    /// Returns the ranges sorted, with adjacent and overlapping ranges merged.
    static func merged(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var result: [ClosedRange<UInt32>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = result.last, last.upperBound == .max || range.lowerBound <= last.upperBound + 1 {
                result[result.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }
}

enum FilterDirection: Hashable, Sendable {
    case unspecified, source, destination, either, both
}

enum FilterAddressKind: String, Hashable, Sendable {
    case host, net, port, portrange, proto, protochain, gateway
}

/// The qualifiers before a name or number. Names and numbers after `and` or `or` inherit them.
struct FilterQualifiers: Hashable, Sendable {
    var proto: FilterProtocol?
    var direction = FilterDirection.unspecified
    var kind: FilterAddressKind?
    /// The named 802.11 address, such as `ra`.
    var wireless: String?
}

enum FilterProtocol: String, Hashable, Sendable, CaseIterable {
    case link, ip, arp, rarp, sctp, tcp, udp, icmp, igmp, igrp, pim, vrrp, carp, atalk, aarp, decnet, lat, sca
    case mopdl, moprc, ip6, icmp6, ah, esp, iso, esis, isis, l1, l2, iih, lsp, snp, psnp, csnp, clnp, stp, ipx
    case netbeui, radio

    static func named(_ word: String) -> FilterProtocol? {
        switch word {
        case "ether", "fddi", "tr", "wlan", "ppp", "slip", "link": .link
        case "es-is": .esis
        case "is-is": .isis
        default: FilterProtocol(rawValue: word)
        }
    }
}

extension FilterNode {
    /// First merges the host sets that the operator "or" joins. Then replaces each host set with tests that compare
    /// addresses.
    var optimized: FilterNode {
        switch self {
        case .any(let nodes):
            var result: [FilterNode] = []
            for node in Self.flattened(nodes) {
                if case .hosts(let more) = node, case .hosts(var hosts) = result.last, hosts.joins(more) {
                    // Without the set in the result, the addresses have one owner and are not copied.
                    result.removeLast()
                    hosts.addresses += more.addresses
                    result.append(.hosts(hosts))
                } else {
                    result.append(node)
                }
            }
            return Self.folded(result.map(\.optimized), neutral: false) { .any($0) }
        case .all(let nodes): return Self.folded(nodes.map(\.optimized), neutral: true) { .all($0) }
        case .not(let node):
            // Optimize the operand only once. Otherwise each nested "not" would double the work.
            switch node.optimized {
            case .constant(let value): return .constant(!value)
            case .not(let inner): return inner
            case let inner: return .not(inner)
            }
        case .hosts(let hosts): return hosts.expanded.optimized
        case .constant, .test, .member, .relation, .mark, .chain: return self
        }
    }

    private static func flattened(_ nodes: [FilterNode]) -> [FilterNode] {
        var result: [FilterNode] = []
        for node in nodes {
            if case .any(let inner) = node { result += flattened(inner) } else { result.append(node) }
        }
        return result
    }

    /// Removes constants that do not change the result. A constant that decides the result replaces the whole node.
    private static func folded(
        _ nodes: [FilterNode], neutral: Bool, _ make: ([FilterNode]) -> FilterNode
    ) -> FilterNode {
        var result: [FilterNode] = []
        for node in nodes {
            guard case .constant(let value) = node else {
                result.append(node)
                continue
            }
            if value != neutral { return .constant(value) }
        }
        if result.isEmpty { return .constant(neutral) }
        return result.count == 1 ? result[0] : make(result)
    }
}

extension FilterNode {
    /// The slots of scratch memory that the filter reads.
    var slots: Set<Int> {
        switch self {
        case .constant: []
        case .test(let load, _, _, _), .member(let load, _, _): load.place.slots
        case .relation(let left, _, let right): left.slots.union(right.slots)
        case .all(let nodes), .any(let nodes): nodes.reduce(into: []) { $0.formUnion($1.slots) }
        case .not(let node): node.slots
        case .mark(_, let expression): expression.slots
        case .chain(_, _, let slot, _): slot.map { [$0] } ?? []
        case .hosts(let hosts):
            hosts.forms.reduce(into: []) {
                $0.formUnion($1.condition.slots.union($1.source.place.slots).union($1.destination.place.slots))
            }
        }
    }
}

extension FilterPlace {
    fileprivate var slots: Set<Int> { slot.map { [$0] } ?? [] }
}

extension FilterExpression {
    fileprivate var slots: Set<Int> {
        switch self {
        case .number, .length: []
        case .load(_, _, let place, let index): place.slots.union(index.slots)
        case .binary(let left, _, let right): left.slots.union(right.slots)
        case .negative(let inner): inner.slots
        case .place(let place): place.slots
        }
    }
}
