/// The maximum number of concurrent requests from a client, by network type. Requests above this number wait in order.
///
/// The session limits connections on its own (`httpMaximumConnectionsPerHost`). These limits protect servers and networks that too many
/// requests would overload.
public struct ConcurrencyLimits: Hashable, Sendable {
    /// The limit on wired networks, Wi-Fi, and networks of unknown type.
    public var unmetered: Int
    /// The limit on cellular and other expensive networks.
    public var expensive: Int
    /// The limit on networks in Low Data Mode.
    public var constrained: Int

    /// Creates limits. Each is at least 1.
    public init(unmetered: Int = 6, expensive: Int = 2, constrained: Int = 2) {
        self.unmetered = max(unmetered, 1)
        self.expensive = max(expensive, 1)
        self.constrained = max(constrained, 1)
    }

    /// Returns the limit for a network state. Without a network, returns ``unmetered``. Requests are also sent without
    /// a network; they then fail, or wait for connectivity.
    public func limit(on reachability: Reachability) -> Int {
        if reachability.isConstrained { return max(constrained, 1) }
        return max(reachability.isMetered ? expensive : unmetered, 1)
    }
}

/// The policy for large transfers on metered networks.
public struct MeteredPolicy: Hashable, Sendable {
    /// How the client treats a large transfer.
    public enum Treatment: Hashable, Sendable {
        /// The transfer starts at once.
        case allow
        /// The transfer waits until the network is not metered.
        case hold
        /// The transfer fails with ``HTTPClientError/Code/meteredNetwork``, so that the program can ask its user.
        case refuse
    }

    /// The treatment of large transfers while the network is metered.
    public var treatment: Treatment
    /// The minimum size of a large transfer in bytes. A transfer of unknown size is not large.
    public var largeByteCount: Int64

    /// Creates a policy.
    public init(_ treatment: Treatment, largeByteCount: Int64 = 10 << 20) {
        self.treatment = treatment
        self.largeByteCount = largeByteCount
    }

    /// Large transfers start at once.
    public static let allow = MeteredPolicy(.allow)

    /// Returns the treatment for a transfer.
    ///
    /// - Parameters:
    ///   - byteCount: The size in bytes; `nil` if it is not known.
    ///   - reachability: The network state.
    public func treatment(of byteCount: Int64?, on reachability: Reachability) -> Treatment {
        guard let byteCount, byteCount >= largeByteCount, reachability.isMetered else { return .allow }
        return treatment
    }
}
