package import CausewayTypes

/// A request to the kernel to list objects of one type, to look up a route, or to change an address (rtnetlink(7)).
package enum NetlinkRequest: Hashable, Sendable {
    case links
    /// Lists the addresses in one family, or in all families with ``InternetAddress/Family/unspecified``.
    case addresses(InternetAddress.Family)
    /// Lists the routes in one family, or in all families with ``InternetAddress/Family/unspecified``.
    case routes(InternetAddress.Family)
    /// Lists the routing policy rules in one family, or in all families with ``InternetAddress/Family/unspecified``.
    case rules(InternetAddress.Family)
    /// Looks up the route for a packet from this host. The reply is one message, without an end-of-listing message.
    case way(to: InternetAddress, from: InternetAddress?, over: Int?)
    /// Looks up a neighbour's link-layer address on an interface. The reply is one message. Linux 5.0 or later.
    case neighbour(InternetAddress, on: Int)
    /// Adds a link-local IPv4 address to an interface, or updates the existing address. If new connections must not use
    /// the address, pass `false` for `isPreferred`: the preferred lifetime is then zero. The reply is an
    /// acknowledgement.
    case putLinkLocal(IPv4Address, on: Int, isPreferred: Bool)
    /// Removes a link-local IPv4 address from an interface.
    case takeLinkLocal(IPv4Address, from: Int)
    /// A request to a generic netlink family. Send it only over a generic netlink socket.
    case generic(GenericNetlinkRequest)

    /// Encodes the request for the kernel.
    ///
    /// - Parameter sequence: The sequence number, which the replies repeat.
    package func encoded(sequence: UInt32) -> [UInt8] {
        let (type, body) = content
        var bytes: [UInt8] = []
        bytes.reserveCapacity(NetlinkHeader.byteCount + body.count)
        bytes.append(host: UInt32(NetlinkHeader.byteCount + body.count))
        bytes.append(host: type)
        bytes.append(host: flags.rawValue)
        bytes.append(host: sequence)
        bytes.append(host: UInt32(0))
        return bytes + body
    }

    private var flags: NetlinkHeader.Flags {
        switch self {
        case .links, .addresses, .routes, .rules: [.request, .dump]
        case .way, .neighbour: .request
        case .generic(let request): request.isListing ? [.request, .dump] : [.request, .acknowledge]
        case .putLinkLocal: [.request, .acknowledge, .replace, .create]
        case .takeLinkLocal: [.request, .acknowledge]
        }
    }

    /// The message type and body. Each body starts with the fixed header for its message type. In listings, all header
    /// fields except the family are zero. Kernels with strict checking reject a shorter header and an unused field that
    /// is not zero.
    private var content: (type: UInt16, body: [UInt8]) {
        switch self {
        case .links:
            var body = [UInt8](repeating: 0, count: 16)
            // Set IFLA_EXT_MASK to RTEXT_FILTER_SKIP_STATS. The kernel then omits the counters, which would be the
            // largest part of a reply.
            body.append(attribute: 29, host: UInt32(8))
            return (NetlinkType.getLink, body)
        case .addresses(let family):
            return (NetlinkType.getAddress, [family.rawValue] + [UInt8](repeating: 0, count: 7))
        case .routes(let family):
            return (NetlinkType.getRoute, [family.rawValue] + [UInt8](repeating: 0, count: 11))
        case .rules(let family):
            return (NetlinkType.getRule, [family.rawValue] + [UInt8](repeating: 0, count: 11))
        case .way(let destination, let source, let index):
            let width = UInt8(destination.family.bitWidth)
            var body: [UInt8] = [destination.family.rawValue, width, source == nil ? 0 : width]
            body += [UInt8](repeating: 0, count: 9)
            body.append(attribute: 1, destination.bytes)  // RTA_DST
            if let source { body.append(attribute: 2, source.bytes) }  // RTA_SRC
            if let index { body.append(attribute: 4, host: Int32(truncatingIfNeeded: index)) }  // RTA_OIF
            return (NetlinkType.getRoute, body)
        case .neighbour(let address, let index):
            var body: [UInt8] = [address.family.rawValue, 0, 0, 0]
            body.append(host: Int32(truncatingIfNeeded: index))
            body += [UInt8](repeating: 0, count: 4)
            body.append(attribute: 1, address.bytes)  // NDA_DST
            return (NetlinkType.getNeighbour, body)
        case .putLinkLocal(let address, let index, let isPreferred):
            var body = Self.linkLocal(address, index)
            body.append(attribute: 4, InternetAddress.ipv4(IPv4Address(bits: 0xA9FE_FFFF)).bytes)  // IFA_BROADCAST
            // The attribute IFA_CACHEINFO contains the preferred lifetime, the valid lifetime and two timestamps. Both
            // lifetimes are infinite. But the preferred lifetime is zero if new connections must not use the address.
            // The timestamps are zero, because only the kernel sets them.
            body.append(host: UInt16(20))
            body.append(host: UInt16(6))
            for number: UInt32 in [isPreferred ? .max : 0, .max, 0, 0] { body.append(host: number) }
            return (NetlinkType.newAddress, body)
        case .takeLinkLocal(let address, let index):
            return (NetlinkType.deleteAddress, Self.linkLocal(address, index))
        case .generic(let request):
            return (request.family, [request.command, request.version, 0, 0] + request.attributes)
        }
    }

    /// Encodes a link-scope IPv4 address from the network 169.254/16 for a netlink request.
    private static func linkLocal(_ address: IPv4Address, _ index: Int) -> [UInt8] {
        var body: [UInt8] = [InternetAddress.Family.ipv4.rawValue, 16, 0, NetlinkAddress.Scope.link.rawValue]
        body.append(host: UInt32(truncatingIfNeeded: index))
        for attribute: UInt16 in [2, 1] {  // IFA_LOCAL, IFA_ADDRESS
            body.append(attribute: attribute, InternetAddress.ipv4(address).bytes)
        }
        return body
    }
}
