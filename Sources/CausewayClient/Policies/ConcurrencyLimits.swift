/// The maximum number of requests that a client sends at the same time, by the type of the network. Further requests wait in order.
///
/// The session limits connections on its own (`httpMaximumConnectionsPerHost`). These limits are for servers and networks that too many requests overload.
public struct ConcurrencyLimits: Hashable, Sendable {
    /// The limit on wired networks, Wi-Fi, and networks of an unknown type.
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

    /// Returns the limit for a state of the network. Without a network the limit is that of unmetered ones: requests are sent and fail, or wait for connectivity.
    public func limit(on reachability: Reachability) -> Int {
        if reachability.isConstrained { return max(constrained, 1) }
        return max(reachability.isMetered ? expensive : unmetered, 1)
    }
}

/// The rule for large transfers on metered networks.
public struct MeteredPolicy: Hashable, Sendable {
    /// The treatment of a large transfer.
    public enum Treatment: Hashable, Sendable {
        /// It starts at once.
        case allow
        /// It waits until the network is not metered.
        case hold
        /// It fails with ``HTTPClientError/Code/meteredNetwork``, so that the program can ask its user.
        case refuse
    }

    /// The treatment.
    public var treatment: Treatment
    /// The number of bytes from which a transfer is large. A transfer of unknown size is not.
    public var largeByteCount: Int64

    /// Creates a policy.
    public init(_ treatment: Treatment, largeByteCount: Int64 = 10 << 20) {
        self.treatment = treatment
        self.largeByteCount = largeByteCount
    }

    /// Large transfers start at once.
    public static let allow = MeteredPolicy(.allow)

    /// Returns what to do with a transfer.
    ///
    /// - Parameters:
    ///   - byteCount: The size in bytes; `nil` if it is not known.
    ///   - reachability: The state of the network.
    public func treatment(of byteCount: Int64?, on reachability: Reachability) -> Treatment {
        guard let byteCount, byteCount >= largeByteCount, reachability.isMetered else { return .allow }
        return treatment
    }
}
