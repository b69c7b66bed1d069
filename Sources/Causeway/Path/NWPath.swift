/// A snapshot of a network path. The path of a connection leads to its endpoint; the path of a monitor leads to the
/// network in general.
///
/// Counterpart: macOS 10.14, iOS 12.
public struct NWPath: Equatable, CustomDebugStringConvertible, Sendable {
    /// Whether the path can be used.
    public let status: NWPath.Status
    /// The interfaces available to the path, most preferred first.
    public let availableInterfaces: [NWInterface]
    /// Whether the network is metered. Traffic over such a network may cost money, as on most cellular networks.
    public let isExpensive: Bool
    /// Whether the path has an IPv4 route.
    public let supportsIPv4: Bool
    /// Whether the path has an IPv6 route.
    public let supportsIPv6: Bool
    /// Whether a DNS server is configured.
    public let supportsDNS: Bool
    /// The local address and port of a connection; `nil` for a path from a monitor, and for a Unix-domain client that bound no path.
    public let localEndpoint: NWEndpoint?
    /// The remote address and port of a connection; `nil` for a path from a monitor.
    public let remoteEndpoint: NWEndpoint?

    private let details: Details

    /// Stores the values of the path's computed properties.
    private struct Details: Equatable, Sendable {
        var unsatisfiedReason: UnsatisfiedReason
        var isConstrained: Bool
        var isUltraConstrained: Bool
        var gateways: [NWEndpoint]
        var linkQuality: LinkQuality
    }

    package init(
        status: Status, unsatisfiedReason: UnsatisfiedReason = .notAvailable,
        availableInterfaces: [NWInterface] = [], isExpensive: Bool = false, isConstrained: Bool = false,
        isUltraConstrained: Bool = false, supportsIPv4: Bool = false, supportsIPv6: Bool = false,
        supportsDNS: Bool = false, gateways: [NWEndpoint] = [], localEndpoint: NWEndpoint? = nil,
        remoteEndpoint: NWEndpoint? = nil, linkQuality: LinkQuality = .unknown
    ) {
        self.status = status
        self.availableInterfaces = availableInterfaces
        self.isExpensive = isExpensive
        self.supportsIPv4 = supportsIPv4
        self.supportsIPv6 = supportsIPv6
        self.supportsDNS = supportsDNS
        self.localEndpoint = localEndpoint
        self.remoteEndpoint = remoteEndpoint
        details = Details(
            unsatisfiedReason: unsatisfiedReason, isConstrained: isConstrained,
            isUltraConstrained: isUltraConstrained, gateways: gateways, linkQuality: linkQuality)
    }

    /// The reason why the path cannot be used. Meaningful only if the status is `.unsatisfied`. On Linux always `.notAvailable`.
    ///
    /// Counterpart: macOS 11, iOS 14.2.
    public var unsatisfiedReason: NWPath.UnsatisfiedReason { details.unsatisfiedReason }

    /// Whether programs should use little data on the path (Low Data Mode). On Linux `true` only if `CAUSEWAY_INTERFACES` specifies this
    /// for the interface.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public var isConstrained: Bool { details.isConstrained }

    /// Whether the path has very little bandwidth, such as a satellite link. On Linux `true` only if `CAUSEWAY_INTERFACES` specifies this
    /// for the interface.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public var isUltraConstrained: Bool { details.isUltraConstrained }

    /// The path's router addresses.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public var gateways: [NWEndpoint] { details.gateways }

    /// The quality of the link. On Linux always `.unknown`.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public var linkQuality: NWPath.LinkQuality { details.linkQuality }

    /// Whether the path uses an interface with this type.
    ///
    /// Compares the preferred interface's type. If that interface is a tunnel (`.other`), also compares the next interface, which carries
    /// the tunnel.
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
        guard let first = availableInterfaces.first else { return false }
        return first.type == type || (first.type == .other && availableInterfaces.dropFirst().first?.type == type)
    }

    /// The status, the preferred interface and the properties of the path as text.
    ///
    /// Example: `satisfied (Path is satisfied), interface: eth0, ipv4, ipv6, dns`.
    public var debugDescription: String {
        let words = [
            (supportsIPv4, "ipv4"), (supportsIPv6, "ipv6"), (supportsDNS, "dns"), (isExpensive, "expensive"),
            (isConstrained, "constrained"), (isUltraConstrained, "ultra constrained"),
        ]
        let interface = availableInterfaces.first.map { ["interface: \($0.name)"] } ?? []
        return ([statusDescription] + interface + words.filter(\.0).map(\.1)).joined(separator: ", ")
    }

    private var statusDescription: String {
        switch status {
        case .satisfied: "satisfied (Path is satisfied)"
        case .unsatisfied: "unsatisfied (\(unsatisfiedReason.explanation))"
        case .requiresConnection: "requires connection (Path would come up on demand)"
        }
    }
}

extension NWPath {
    /// Whether a path can be used.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum Status: Sendable, Equatable, Hashable {
        /// The path can be used: there is a route.
        case satisfied
        /// The path cannot be used: there is no route.
        case unsatisfied
        /// There is no route now, but an attempt to connect would create one. Never reported on Linux.
        case requiresConnection
    }

    /// The reason why a path cannot be used.
    ///
    /// Counterpart: macOS 11, iOS 14.2.
    public enum UnsatisfiedReason: Sendable, Equatable, Hashable {
        /// No specific reason.
        case notAvailable
        /// The user denied the program access to the cellular network.
        case cellularDenied
        /// The user denied the program access to Wi-Fi.
        case wifiDenied
        /// The user denied the program access to the local network.
        case localNetworkDenied
        /// A required VPN is not connected.
        ///
        /// Counterpart: macOS 14, iOS 17.
        case vpnInactive

        fileprivate var explanation: String {
            switch self {
            case .notAvailable: "No network route"
            case .cellularDenied: "Cellular denied"
            case .wifiDenied: "Wi-Fi denied"
            case .localNetworkDenied: "Local network denied"
            case .vpnInactive: "VPN inactive"
            }
        }
    }

    /// A rough rating of a link.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum LinkQuality: Sendable, Equatable, Hashable {
        /// The quality is not known.
        case unknown
        /// The quality is poor.
        case minimal
        /// The quality is fair.
        case moderate
        /// The quality is good.
        case good
    }
}
