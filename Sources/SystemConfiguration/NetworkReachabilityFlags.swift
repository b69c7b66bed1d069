/// What is known of the way to a destination.
///
/// Counterpart: macOS 10.3, iOS 2.
public struct SCNetworkReachabilityFlags: OptionSet, Hashable, Sendable {
    public var rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// By way of a connection that passes, as by modem. Never set.
    public static let transientConnection = SCNetworkReachabilityFlags(rawValue: 1 << 0)
    /// There is a way to the destination.
    public static let reachable = SCNetworkReachabilityFlags(rawValue: 1 << 1)
    /// A connection has to be made first. Never set.
    public static let connectionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 2)
    /// Traffic makes the connection. Never set.
    public static let connectionOnTraffic = SCNetworkReachabilityFlags(rawValue: 1 << 3)
    /// A person has to do something first. Never set.
    public static let interventionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 4)
    /// Certain interfaces of programs make the connection. Never set.
    public static let connectionOnDemand = SCNetworkReachabilityFlags(rawValue: 1 << 5)
    /// The destination is an address of this host.
    public static let isLocalAddress = SCNetworkReachabilityFlags(rawValue: 1 << 16)
    /// The destination is on a link of this host, behind no router.
    public static let isDirect = SCNetworkReachabilityFlags(rawValue: 1 << 17)
    /// Packets leave over a cellular network.
    public static let isWWAN = SCNetworkReachabilityFlags(rawValue: 1 << 18)
    /// The old name of ``connectionOnTraffic``.
    public static let connectionAutomatic = connectionOnTraffic
}
