/// What the system knew, at one moment, about the way to an endpoint or to the network at large.
///
/// Counterpart: macOS 10.14, iOS 12.
public struct NWPath: Equatable, CustomDebugStringConvertible, Sendable {
    /// Whether the path can be used.
    public let status: NWPath.Status
    /// The interfaces that could carry it, best first.
    public let availableInterfaces: [NWInterface]
    /// Whether it is metered.
    public let isExpensive: Bool
    /// Whether it has an IPv4 route.
    public let supportsIPv4: Bool
    /// Whether it has an IPv6 route.
    public let supportsIPv6: Bool
    /// Whether there is a DNS server to ask.
    public let supportsDNS: Bool
    /// The local address and port of a connection; `nil` for a path of a monitor.
    public let localEndpoint: NWEndpoint?
    /// The remote address and port of a connection; `nil` for a path of a monitor.
    public let remoteEndpoint: NWEndpoint?

    private let details: Details

    /// Members that the interface declares as computed.
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

    /// Why the path cannot be used. It means something only for `.unsatisfied`.
    ///
    /// Counterpart: macOS 11, iOS 14.2.
    public var unsatisfiedReason: NWPath.UnsatisfiedReason { details.unsatisfiedReason }

    /// Whether it is in low data mode.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public var isConstrained: Bool { details.isConstrained }

    /// Whether it is as narrow as a satellite link.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public var isUltraConstrained: Bool { details.isUltraConstrained }

    /// The addresses of the routers on it.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public var gateways: [NWEndpoint] { details.gateways }

    /// How good the link is.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public var linkQuality: NWPath.LinkQuality { details.linkQuality }

    /// Whether the path uses an interface of a type: that of its first, preferred interface; where that is a tunnel, also that of the
    /// next one, which carries the tunnel.
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
        guard let first = availableInterfaces.first else { return false }
        return first.type == type || (first.type == .other && availableInterfaces.dropFirst().first?.type == type)
    }

    /// The status and what the path supports, such as
    /// `satisfied (Path is satisfied), interface: eth0, ipv4, ipv6, dns`.
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
        /// There is a route.
        case satisfied
        /// There is none.
        case unsatisfied
        /// There is none yet, and connecting would bring one up.
        case requiresConnection
    }

    /// Why a path cannot be used.
    ///
    /// Counterpart: macOS 11, iOS 14.2.
    public enum UnsatisfiedReason: Sendable, Equatable, Hashable {
        /// For no particular reason.
        case notAvailable
        /// Cellular data is switched off for the program.
        case cellularDenied
        /// Wi-Fi is switched off for the program.
        case wifiDenied
        /// Access to the local network was refused.
        case localNetworkDenied
        /// A VPN that is required is down.
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

    /// How good a link is, roughly.
    ///
    /// Counterpart: macOS 26, iOS 26.
    public enum LinkQuality: Sendable, Equatable, Hashable {
        /// Not measured.
        case unknown
        /// Poor.
        case minimal
        /// Fair.
        case moderate
        /// Good.
        case good
    }
}
