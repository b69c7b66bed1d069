// Members that the compiler would synthesize, declared so that symbol graphs and documentation list them as Apple's do.

extension MCSessionSendDataMode {
    /// The case's raw value, as in Apple's interface.
    public var rawValue: Int {
        switch self {
        case .reliable: 0
        case .unreliable: 1
        }
    }
    /// A hash of the raw value.
    public var hashValue: Int { rawValue.hashValue }
    /// Hashes the raw value.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
    /// Whether two values differ.
    public static func != (lhs: Self, rhs: Self) -> Bool { lhs.rawValue != rhs.rawValue }
}

extension MCSessionState {
    /// The case's raw value in Apple's interface.
    public var rawValue: Int {
        switch self {
        case .notConnected: 0
        case .connecting: 1
        case .connected: 2
        }
    }
    /// A hash of the raw value.
    public var hashValue: Int { rawValue.hashValue }
    /// Hashes the raw value.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
    /// Whether two values differ.
    public static func != (lhs: Self, rhs: Self) -> Bool { lhs.rawValue != rhs.rawValue }
}

extension MCEncryptionPreference {
    /// The case's raw value in Apple's interface.
    public var rawValue: Int {
        switch self {
        case .optional: 0
        case .required: 1
        case .none: 2
        }
    }
    /// A hash of the raw value.
    public var hashValue: Int { rawValue.hashValue }
    /// Hashes the raw value.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
    /// Whether two values differ.
    public static func != (lhs: Self, rhs: Self) -> Bool { lhs.rawValue != rhs.rawValue }
}

extension MCError.Code {
    /// The case's raw value in Apple's interface.
    public var rawValue: Int {
        switch self {
        case .unknown: 0
        case .notConnected: 1
        case .invalidParameter: 2
        case .unsupported: 3
        case .timedOut: 4
        case .cancelled: 5
        case .unavailable: 6
        }
    }
    /// A hash of the raw value.
    public var hashValue: Int { rawValue.hashValue }
    /// Hashes the raw value.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}
