internal import CausewayTypes
internal import CausewayWire

/// One routing table's routes for one address family, with longest-prefix lookup.
struct RouteTable: Sendable {
    private struct Block: Hashable {
        var start: InternetAddress
        var length: Int
    }

    /// The maximum prefix length of a broad route, in bits. A broad route counts as a part of the default route: VPNs
    /// split the default route into two or four parts.
    static let broadLength = 4

    private var blocks: [Block: [NetlinkRoute]] = [:]
    /// The prefix lengths in the table, longest first.
    private var lengths: [Int] = []
    /// Routes that cover a large part of all Internet addresses. The preferred route comes first.
    private(set) var broad: [NetlinkRoute] = []

    /// - Parameter routes: The routes in the kernel's order. This order decides between routes that are equal
    ///   otherwise.
    init(_ routes: [NetlinkRoute]) {
        for route in routes where !route.flags.contains(.cloned) {
            let (address, length) = (route.destination.address, route.destination.length)
            blocks[Block(start: address.masked(to: length), length: length), default: []].append(route)
        }
        for (block, routes) in blocks where routes.count > 1 { blocks[block] = routes.inOrderOfPreference }
        lengths = Set(blocks.keys.map(\.length)).sorted(by: >)
        broad = lengths.filter { $0 <= Self.broadLength }.flatMap { length in
            routes.filter { $0.destination.length == length && !$0.flags.contains(.cloned) }.inOrderOfPreference
        }
    }

    /// Returns the first value that `pick` returns for a route to an address. Routes with longer prefixes are tried
    /// first. Routes with equal prefixes are tried in preference order.
    func first<Value>(for address: InternetAddress, _ pick: (NetlinkRoute) -> Value?) -> Value? {
        for length in lengths {
            guard let routes = blocks[Block(start: address.masked(to: length), length: length)] else { continue }
            for route in routes {
                if let value = pick(route) { return value }
            }
        }
        return nil
    }
}

extension [NetlinkRoute] {
    /// The routes for one destination, in the order in which the kernel prefers them.
    ///
    /// The criteria are: type of service, source prefix length, metric, router preference, and finally the order in the
    /// kernel's list.
    fileprivate var inOrderOfPreference: [NetlinkRoute] {
        enumerated().sorted { one, other in
            let (a, b) = (one.element, other.element)
            let (first, second) = (a.selector, b.selector)
            if first.typeOfService != second.typeOfService { return first.typeOfService > second.typeOfService }
            let (length, otherLength) = (first.source?.length ?? 0, second.source?.length ?? 0)
            if length != otherLength { return length > otherLength }
            return a.metric == b.metric ? one.offset < other.offset : a.metric < b.metric
        }.map(\.element)
    }
}

extension InternetAddress {
    /// Returns the first address of the subnet that contains this address and has this prefix length. The result has no
    /// interface scope.
    func masked(to length: Int) -> InternetAddress {
        switch self {
        case .ipv4(let address):
            // A shift by the full bit width is 0 in Swift. The maximum prefix length therefore needs no special case.
            .ipv4(IPv4Address(bits: address.bits & ~(UInt32.max >> UInt32(min(max(length, 0), 32)))))
        case .ipv6(let address):
            .ipv6(
                IPv6Address(
                    high: address.high & ~(UInt64.max >> UInt64(min(max(length, 0), 64))),
                    low: address.low & ~(UInt64.max >> UInt64(min(max(length - 64, 0), 64)))))
        }
    }
}
