/// A destination's reachability.
///
/// Counterpart: macOS 10.3, iOS 2.
public struct SCNetworkReachabilityFlags: OptionSet, Hashable, Sendable {
    /// The flag bits.
    public var rawValue: UInt32

    /// Creates flags from their bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The path uses a transient connection, such as a modem. This flag is never set.
    public static let transientConnection = SCNetworkReachabilityFlags(rawValue: 1 << 0)
    /// There is a path to the destination.
    public static let reachable = SCNetworkReachabilityFlags(rawValue: 1 << 1)
    /// The destination can be reached only after another connection, such as a dial-up connection, has been
    /// established. This flag is never set.
    public static let connectionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 2)
    /// The system establishes the required connection when a program sends traffic to the destination. This flag is
    /// never set.
    public static let connectionOnTraffic = SCNetworkReachabilityFlags(rawValue: 1 << 3)
    /// The user must act, for example enter a password, before the required connection can be established. This flag is
    /// never set.
    public static let interventionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 4)
    /// The connection is established on demand when a program calls certain APIs. This flag is never set.
    public static let connectionOnDemand = SCNetworkReachabilityFlags(rawValue: 1 << 5)
    /// The destination is one of this host's own addresses.
    public static let isLocalAddress = SCNetworkReachabilityFlags(rawValue: 1 << 16)
    /// The destination is on a directly attached link, without a router.
    public static let isDirect = SCNetworkReachabilityFlags(rawValue: 1 << 17)
    /// The path uses a cellular network.
    public static let isWWAN = SCNetworkReachabilityFlags(rawValue: 1 << 18)
    /// The old name of ``connectionOnTraffic``.
    public static let connectionAutomatic = connectionOnTraffic
}

// The flags as integers, for older programs that compare them.

/// The value of ``SCNetworkReachabilityFlags/transientConnection``.
public let kSCNetworkFlagsTransientConnection = 1 << 0
/// The value of ``SCNetworkReachabilityFlags/reachable``.
public let kSCNetworkFlagsReachable = 1 << 1
/// The value of ``SCNetworkReachabilityFlags/connectionRequired``.
public let kSCNetworkFlagsConnectionRequired = 1 << 2
/// The value of ``SCNetworkReachabilityFlags/connectionAutomatic``.
public let kSCNetworkFlagsConnectionAutomatic = 1 << 3
/// The value of ``SCNetworkReachabilityFlags/interventionRequired``.
public let kSCNetworkFlagsInterventionRequired = 1 << 4
/// The value of ``SCNetworkReachabilityFlags/isLocalAddress``.
public let kSCNetworkFlagsIsLocalAddress = 1 << 16
/// The value of ``SCNetworkReachabilityFlags/isDirect``.
public let kSCNetworkFlagsIsDirect = 1 << 17
