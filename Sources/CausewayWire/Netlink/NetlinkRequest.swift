package import CausewayTypes

/// A request that the kernel list one kind of object, or tell one thing (rtnetlink(7)).
package enum NetlinkRequest: Hashable, Sendable {
    case links
    /// Addresses of one family, or of all with ``InternetAddress/Family/unspecified``.
    case addresses(InternetAddress.Family)
    /// Routes of one family, or of all with ``InternetAddress/Family/unspecified``.
    case routes(InternetAddress.Family)
    /// Routing policy rules of one family, or of all with ``InternetAddress/Family/unspecified``.
    case rules(InternetAddress.Family)
    /// The route of a packet of this host. The answer is one message, and no end of a listing.
    case way(to: InternetAddress, from: InternetAddress?, over: Int?)
    /// Puts a link-local IPv4 address on an interface, or changes whether one that is there is for new connections. The answer is an
    /// acknowledgement.
    case putLinkLocal(IPv4Address, on: Int, isPreferred: Bool)
    /// Takes it off.
    case takeLinkLocal(IPv4Address, from: Int)
    /// A request to a family of generic netlink, on a socket of that vocabulary.
    case generic(GenericNetlinkRequest)

    /// The request as it goes to the kernel.
    ///
    /// - Parameter sequence: A number that the answers will repeat.
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
        case .way: .request
        case .generic(let request): request.isListing ? [.request, .dump] : [.request, .acknowledge]
        case .putLinkLocal: [.request, .acknowledge, .replace, .create]
        case .takeLinkLocal: [.request, .acknowledge]
        }
    }

    /// Each kind's own header, which is all zeros but for the family: strict kernels refuse a shorter one, and one
    /// with values that they would have to ignore.
    private var content: (type: UInt16, body: [UInt8]) {
        switch self {
        case .links:
            var body = [UInt8](repeating: 0, count: 16)
            // IFLA_EXT_MASK with RTEXT_FILTER_SKIP_STATS: leaves out the counters, most of an answer's size.
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
        case .putLinkLocal(let address, let index, let isPreferred):
            var body = Self.linkLocal(address, index)
            body.append(attribute: 4, InternetAddress.ipv4(IPv4Address(bits: 0xA9FE_FFFF)).bytes)  // IFA_BROADCAST
            // IFA_CACHEINFO: preferred for ever or not at all, valid for ever, and two times that only the kernel tells.
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

    /// An address message: the network is 169.254/16, and nothing of it goes further than the link.
    private static func linkLocal(_ address: IPv4Address, _ index: Int) -> [UInt8] {
        var body: [UInt8] = [InternetAddress.Family.ipv4.rawValue, 16, 0, NetlinkAddress.Scope.link.rawValue]
        body.append(host: UInt32(truncatingIfNeeded: index))
        for attribute: UInt16 in [2, 1] {  // IFA_LOCAL, IFA_ADDRESS
            body.append(attribute: attribute, InternetAddress.ipv4(address).bytes)
        }
        return body
    }
}
