extension NWBrowser {
    /// A service that the browser has found. Instances with the same name on several interfaces form one result.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public struct Result: Hashable, Sendable {
        /// The service's endpoint, for ``NWConnection/init(to:using:)``.
        public let endpoint: NWEndpoint
        /// The interfaces on which the service was found, by increasing index. Empty for services in unicast DNS domains.
        public let interfaces: [NWInterface]
        /// The service's TXT record, if the descriptor requests TXT records.
        public let metadata: NWBrowser.Result.Metadata

        package init(endpoint: NWEndpoint, interfaces: [NWInterface], metadata: Metadata) {
            self.endpoint = endpoint
            self.interfaces = interfaces
            self.metadata = metadata
        }

        /// Hashes only the endpoint and the interfaces. Equality also compares the metadata, but equal results still
        /// have equal hash values.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(endpoint)
            hasher.combine(interfaces)
        }
    }
}

extension NWBrowser.Result {
    /// Additional data that a service publishes.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public enum Metadata: Equatable, CustomDebugStringConvertible, Sendable {
        /// The service publishes no data, or the descriptor does not request the data.
        case none
        /// The TXT record of a Bonjour service (RFC 6763 §6).
        case bonjour(_: NWTXTRecord)

        /// The TXT record as text, or `none` if the result has no TXT record.
        public var debugDescription: String {
            switch self {
            case .none: "none"
            case .bonjour(let record): record.debugDescription
            }
        }
    }

    /// The difference between an old and a new result for the same service.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public enum Change: Hashable, Sendable {
        /// The results are equal.
        case identical
        /// The service has appeared.
        case added(NWBrowser.Result)
        /// The service has disappeared.
        case removed(NWBrowser.Result)
        /// The service is still available, but its interfaces or its metadata have changed.
        case changed(old: NWBrowser.Result, new: NWBrowser.Result, flags: NWBrowser.Result.Change.Flags)

        /// Computes the change from `old` to `new`. Pass `nil` for a service that is not available.
        ///
        /// Both results must belong to one service. The initializer does not compare their endpoints.
        public init(between old: NWBrowser.Result?, _ new: NWBrowser.Result?) {
            switch (old, new) {
            case (nil, nil): self = .identical
            case (nil, let new?): self = .added(new)
            case (let old?, nil): self = .removed(old)
            case (let old?, let new?):
                let flags = Flags(between: old, new)
                self = flags == .identical ? .identical : .changed(old: old, new: new, flags: flags)
            }
        }

        /// The parts of a result that have changed.
        ///
        /// Counterpart: macOS 10.15, iOS 13.
        public struct Flags: OptionSet, Hashable, Sendable {
            /// The flags as bits, with the values of Apple's C interface.
            public let rawValue: UInt8

            /// Creates a set of flags from bits. Bits without a defined flag stay in `rawValue`.
            public init(rawValue: UInt8) {
                self.rawValue = rawValue
            }

            /// The two results are identical.
            public static let identical = Flags(rawValue: 0x01)
            /// The service was found on an additional interface.
            public static let interfaceAdded = Flags(rawValue: 0x08)
            /// The service is no longer available on one of its interfaces.
            public static let interfaceRemoved = Flags(rawValue: 0x10)
            /// The service's metadata has changed.
            public static let metadataChanged = Flags(rawValue: 0x20)
        }
    }
}

extension NWBrowser.Result.Change.Flags {
    fileprivate init(between old: NWBrowser.Result, _ new: NWBrowser.Result) {
        var flags: Self = []
        if !Set(new.interfaces).subtracting(old.interfaces).isEmpty { flags.insert(.interfaceAdded) }
        if !Set(old.interfaces).subtracting(new.interfaces).isEmpty { flags.insert(.interfaceRemoved) }
        if old.metadata != new.metadata { flags.insert(.metadataChanged) }
        self = flags.isEmpty ? .identical : flags
    }
}
