public import Causeway
internal import CausewaySystem
internal import Dispatch
internal import FoundationEssentials
public import Glibc

/// A destination whose reachability is observed.
///
/// New programs should use `NWPathMonitor`, or connect directly: a connection waits until there is a path. Can be used from any thread.
///
/// Counterpart: macOS 10.3, iOS 2.
public final class SCNetworkReachability: Sendable {
    fileprivate enum Target: Sendable {
        /// The default route. The program specifies it as the unspecified address (all zeros).
        case everywhere
        /// A host that must be looked up.
        case name(String)
        case endpoint(NWEndpoint)
        /// The directly attached links, without routers. The program specifies them as the address 169.254.0.0.
        case links
    }

    private let target: Target
    let follower = ReachabilityFollower()

    fileprivate init(_ target: Target) { self.target = target }

    /// Returns the address in a socket address, with the interface of its zone: the path to a link-local address
    /// depends on this interface (RFC 4007 §6).
    static func address(_ found: sockaddr_in6) -> IPv6Address? {
        let interface = found.sin6_scope_id == 0 ? nil : NWInterface(index: Int(found.sin6_scope_id))
        return withUnsafeBytes(of: found.sin6_addr) { IPv6Address(Data($0), interface) }
    }

    /// Maximum time for a name lookup, in seconds.
    private static let lookupLimit = 5

    /// Determines the destination's current flags. A name is looked up first, and its addresses determine the flags.
    /// May read the resolver files, so do not call it on an event loop.
    ///
    /// - Parameter then: Called once: before this method returns or, for a name, on any thread after the lookup.
    func findFlags(_ then: @escaping @Sendable (SCNetworkReachabilityFlags) -> Void) {
        switch target {
        case .everywhere: then(Self.flags(of: .everywhere(), tellsDirect: false))
        case .endpoint(let endpoint): then(Self.flags(of: endpoint))
        case .links: then(Self.linkFlags)
        case .name(let name):
            // Some names need no DNS query, for example `localhost` and the names in the hosts file. Their addresses
            // are already known, so the result is the flags of these addresses. This works without a network.
            if let known = HostFinding.known(name) { return then(Self.flags(of: known)) }
            // If there is no network, report at once that the name is unreachable. A lookup could delay this report by
            // several seconds.
            guard !Self.presumedFlags(of: name).isEmpty else { return then([]) }
            Self.findFlags(of: name, then)
        }
    }

    /// The flags of the directly attached links.
    private static var linkFlags: SCNetworkReachabilityFlags {
        let hasLinks = PathQuery.everywhere().interfaces.contains { $0.isCarrying && $0.interface.type != .loopback }
        return hasLinks ? [.reachable, .isDirect] : []
    }

    /// The flags to assume before the host name has been looked up; `nil` if the destination needs no lookup.
    var presumedFlags: SCNetworkReachabilityFlags? {
        guard case .name(let name) = target else { return nil }
        return HostFinding.known(name).map { Self.flags(of: $0) } ?? Self.presumedFlags(of: name)
    }

    /// Returns the flags of the network over which a name is looked up. A name in `local` is looked up with multicast
    /// DNS, so the flags are those of this host's links. For all other names, the flags are those of the default route.
    private static func presumedFlags(of name: String) -> SCNetworkReachabilityFlags {
        HostFinding.isOfLink(name) ? linkFlags : flags(of: .everywhere(), tellsDirect: false)
    }

    /// Returns the flags for a name whose lookup got no answer. The name may still exist if no DNS server answers, so
    /// the result is the flags of the default route. A name in `local` counts as unreachable: if it existed, its owner
    /// would have answered on the link.
    private static func unansweredFlags(of name: String) -> SCNetworkReachabilityFlags {
        HostFinding.isOfLink(name) ? [] : flags(of: HostFinding.unknown)
    }

    /// Looks up a name for at most ``lookupLimit`` seconds.
    private static func findFlags(
        of name: String, _ then: @escaping @Sendable (SCNetworkReachabilityFlags) -> Void
    ) {
        let pending = LockedValue<(@Sendable (SCNetworkReachabilityFlags) -> Void)?>(then)
        let cancel = HostFinding.find(name) { finding in
            pending.withLock { $0.take() }?(flags(of: finding))
        }
        DispatchQueue.global().call(after: .seconds(lookupLimit)) {
            guard let late = pending.withLock({ $0.take() }) else { return }
            cancel()
            late(unansweredFlags(of: name))
        }
    }

    /// Returns the destination's current flags. For a name, blocks for at most ``lookupLimit`` seconds.
    func findFlags() -> SCNetworkReachabilityFlags {
        let found = LockedValue<SCNetworkReachabilityFlags?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        findFlags { flags in
            found.withLock { $0 = flags }
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + .seconds(Self.lookupLimit))
        if let flags = found.withLock({ $0 }) { return flags }
        if case .name(let name) = target { return Self.unansweredFlags(of: name) }
        return []
    }

    /// Returns the flags for the first found address that has a path. If no DNS server has answered, returns the
    /// default route's flags, because the name may exist.
    private static func flags(of finding: HostFinding) -> SCNetworkReachabilityFlags {
        switch finding {
        case .addresses(let hosts):
            hosts.lazy.map { flags(of: .hostPort(host: $0, port: .any)) }.first { !$0.isEmpty } ?? []
        case .absent: []
        case .unknown: flags(of: .everywhere(), tellsDirect: false)
        }
    }

    private static func flags(of endpoint: NWEndpoint) -> SCNetworkReachabilityFlags {
        PathQuery.destination(endpoint).map { flags(of: $0, tellsDirect: true) } ?? []
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

/// Creates a destination from a host name or an address in text form.
///
/// A name is looked up when its flags are requested, and after each network change.
///
/// - Parameters:
///   - allocator: Ignored.
///   - nodename: A host name, or an IPv4 or IPv6 address.
/// - Returns: `nil` for an empty name; ``SCError()`` is then `kSCStatusInvalidArgument`.
///
/// Counterpart: macOS 10.3, iOS 2.
public func SCNetworkReachabilityCreateWithName(
    _ allocator: CFAllocator?, _ nodename: UnsafePointer<CChar>
) -> SCNetworkReachability? {
    let name = String(cString: nodename)
    guard !name.isEmpty else { return StatusMemory.failed(with: kSCStatusInvalidArgument) }
    let host = NWEndpoint.Host(name)
    if case .name = host { return SCNetworkReachability(.name(name)) }
    return SCNetworkReachability(.endpoint(.hostPort(host: host, port: .any)))
}

/// Creates a destination from an IPv4 or IPv6 address. The unspecified address (all zeros) stands for the default
/// route. The address 169.254.0.0 stands for this host's directly attached links.
///
/// - Parameters:
///   - allocator: Ignored.
///   - address: A `sockaddr_in` or `sockaddr_in6`. The port is ignored.
/// - Returns: `nil` for another address family; ``SCError()`` is then `kSCStatusInvalidArgument`.
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
        let found = bytes.loadUnaligned(as: sockaddr_in6.self)
        guard let ipv6 = SCNetworkReachability.address(found) else { return nil }
        if ipv6.rawValue == IPv6Address.any.rawValue { return SCNetworkReachability(.everywhere) }
        return SCNetworkReachability(.endpoint(.hostPort(host: .ipv6(ipv6), port: .any)))
    default: return StatusMemory.failed(with: kSCStatusInvalidArgument)
    }
}

/// Gets a destination's current flags.
///
/// For an address, the function queries only the kernel and returns within a few tenths of a millisecond. For a name,
/// the function looks up the name and blocks for at most five seconds. Do not call it on a thread that must not block.
///
/// A name that does not exist has no flags. If no DNS server answers, the name has the default route's flags. A name in
/// `local` is looked up on the directly attached links and needs no default route. No query is needed for some names,
/// such as `localhost` and names in the hosts file: these names have the flags of their known addresses.
///
/// - Returns: `true`.
///
/// Counterpart: macOS 10.3, iOS 2.
@discardableResult
public func SCNetworkReachabilityGetFlags(
    _ target: SCNetworkReachability, _ flags: UnsafeMutablePointer<SCNetworkReachabilityFlags>
) -> Bool {
    flags.pointee = target.findFlags()
    return true
}
