public import Causeway

/// The network state, as far as this computer knows it.
///
/// A reachable network does not mean that a request will be delivered. The server, or a link on the route, can fail at
/// any time. A request can also succeed although the latest known state was "not reachable". So a client does not check
/// first: it sends the request and handles the failure. Use reachability to explain a failure, to time a retry, and to
/// spare metered networks.
public struct Reachability: Hashable, Sendable, CustomStringConvertible {
    /// The network type.
    public enum Network: String, Hashable, Sendable {
        /// Ethernet and the like.
        case wired
        /// Wi-Fi.
        case wifi
        /// A cellular network.
        case cellular
        /// This computer.
        case loopback
        /// A network of unknown type, such as a virtual interface.
        case unknown
    }

    /// The type of the preferred network; `nil` if there is none.
    public let network: Network?
    /// Whether the network costs money by volume.
    public let isExpensive: Bool
    /// Whether the network is in Low Data Mode.
    public let isConstrained: Bool

    /// Creates a network state.
    public init(_ network: Network?, isExpensive: Bool = false, isConstrained: Bool = false) {
        self.network = network
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
    }

    /// Creates the state from a path.
    public init(_ path: NWPath) {
        guard path.status == .satisfied else {
            self.init(nil)
            return
        }
        let network: Network =
            if path.usesInterfaceType(.wiredEthernet) { .wired } else if path.usesInterfaceType(.wifi) {
                .wifi
            } else if path.usesInterfaceType(.cellular) { .cellular } else if path.usesInterfaceType(.loopback) {
                .loopback
            } else { .unknown }
        self.init(network, isExpensive: path.isExpensive, isConstrained: path.isConstrained)
    }

    /// Whether there is a network.
    public var isReachable: Bool { network != nil }
    /// Whether the network is Wi-Fi.
    public var isReachableViaWiFi: Bool { network == .wifi }
    /// Whether the network is cellular.
    public var isReachableViaCellular: Bool { network == .cellular }
    /// Whether the program should avoid large transfers, because the network is cellular, expensive or in Low Data
    /// Mode.
    public var isMetered: Bool { isReachable && (network == .cellular || isExpensive || isConstrained) }

    /// The state in words, such as `wifi, expensive`.
    public var description: String {
        guard let network else { return "none" }
        return network.rawValue + (isExpensive ? ", expensive" : "") + (isConstrained ? ", constrained" : "")
    }
}
