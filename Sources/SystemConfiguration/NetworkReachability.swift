public import Causeway
internal import FoundationEssentials
public import Glibc

/// A destination whose reachability a program observes.
///
/// New programs should use `NWPathMonitor`, or connect directly: a connection waits until there is a path. Can be used from any thread.
///
/// Counterpart: macOS 10.3, iOS 2.
public final class SCNetworkReachability: Sendable {
    fileprivate enum Target: Sendable {
        /// The default route. Used for the address of all zeros, and for names.
        case everywhere
        case endpoint(NWEndpoint)
        /// Directly attached links, without routers. Used for the address 169.254.0.0.
        case links
    }

    private let target: Target
    let follower = ReachabilityFollower()

    fileprivate init(_ target: Target) { self.target = target }

    /// The current flags of the destination.
    var flags: SCNetworkReachabilityFlags {
        switch target {
        case .everywhere: Self.flags(of: .everywhere(), tellsDirect: false)
        case .endpoint(let endpoint):
            PathQuery.destination(endpoint).map { Self.flags(of: $0, tellsDirect: true) } ?? []
        case .links:
            PathQuery.everywhere().interfaces.contains { $0.isCarrying && $0.interface.type != .loopback }
                ? [.reachable, .isDirect] : []
        }
    }

    private static func flags(of inquiry: PathQuery, tellsDirect: Bool) -> SCNetworkReachabilityFlags {
        guard inquiry.path.status == .satisfied, let way = inquiry.ways.first else { return [] }
        var flags: SCNetworkReachabilityFlags = .reachable
        if way.interface.type == .cellular { flags.insert(.isWWAN) }
        if way.interface.type == .loopback {
            flags.formUnion([.isLocalAddress, .isDirect])
        } else if tellsDirect, way.gateway == nil {
            flags.insert(.isDirect)
        }
        return flags
    }
}

/// Creates a destination from a name or from an address as text.
///
/// No DNS query is made: a name counts as reachable if there is a default route.
///
/// - Parameter allocator: Ignored.
/// - Returns: `nil` for an empty name.
///
/// Counterpart: macOS 10.3, iOS 2.
public func SCNetworkReachabilityCreateWithName(
    _ allocator: CFAllocator?, _ nodename: UnsafePointer<CChar>
) -> SCNetworkReachability? {
    let name = String(cString: nodename)
    guard !name.isEmpty else { return nil }
    let host = NWEndpoint.Host(name)
    if case .name = host { return SCNetworkReachability(.everywhere) }
    return SCNetworkReachability(.endpoint(.hostPort(host: host, port: .any)))
}

/// Creates a destination from an IPv4 or IPv6 address. The unspecified address (all zeros) stands for the default route, and 169.254.0.0
/// for this host's links.
///
/// - Parameter allocator: Ignored.
/// - Returns: `nil` for another address family.
///
/// Counterpart: macOS 10.3, iOS 2.
public func SCNetworkReachabilityCreateWithAddress(
    _ allocator: CFAllocator?, _ address: UnsafePointer<sockaddr>
) -> SCNetworkReachability? {
    let bytes = UnsafeRawPointer(address)
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
        let found = bytes.loadUnaligned(as: sockaddr_in.self).sin_addr
        guard let ipv4 = withUnsafeBytes(of: found, { IPv4Address(Data($0)) }) else { return nil }
        if ipv4 == .any { return SCNetworkReachability(.everywhere) }
        if ipv4 == IPv4Address("169.254.0.0") { return SCNetworkReachability(.links) }
        return SCNetworkReachability(.endpoint(.hostPort(host: .ipv4(ipv4), port: .any)))
    case AF_INET6:
        let found = bytes.loadUnaligned(as: sockaddr_in6.self).sin6_addr
        guard let ipv6 = withUnsafeBytes(of: found, { IPv6Address(Data($0)) }) else { return nil }
        if ipv6 == .any { return SCNetworkReachability(.everywhere) }
        return SCNetworkReachability(.endpoint(.hostPort(host: .ipv6(ipv6), port: .any)))
    default: return nil
    }
}

/// Gets the current flags of a destination. Queries only the kernel, which takes a few tenths of a millisecond.
///
/// - Returns: `true`.
///
/// Counterpart: macOS 10.3, iOS 2.
@discardableResult
public func SCNetworkReachabilityGetFlags(
    _ target: SCNetworkReachability, _ flags: UnsafeMutablePointer<SCNetworkReachabilityFlags>
) -> Bool {
    flags.pointee = target.flags
    return true
}
