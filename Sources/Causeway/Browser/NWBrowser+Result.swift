extension NWBrowser {
    /// One service that is there. Instances of the same name on several interfaces are one result.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public struct Result: Hashable, Sendable {
        /// What to connect to: the argument of ``NWConnection/init(to:using:)``.
        public let endpoint: NWEndpoint
        /// The interfaces on which it is seen.
        public let interfaces: [NWInterface]
        /// What the service tells about itself.
        public let metadata: NWBrowser.Result.Metadata

        package init(endpoint: NWEndpoint, interfaces: [NWInterface], metadata: Metadata) {
            self.endpoint = endpoint
            self.interfaces = interfaces
            self.metadata = metadata
        }

        /// Equality is that of all three parts; where the service is suffices to find it in a set.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(endpoint)
            hasher.combine(interfaces)
        }
    }
}

extension NWBrowser.Result {
    /// What a service tells about itself.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public enum Metadata: Equatable, CustomDebugStringConvertible, Sendable {
        /// Nothing, or nothing was asked for.
        case none
        /// The TXT record of a Bonjour service.
        case bonjour(_: NWTXTRecord)

        /// The entries of the record, or `none`.
        public var debugDescription: String {
            switch self {
            case .none: "none"
            case .bonjour(let record): record.debugDescription
            }
        }
    }

    /// The difference between two sights of one service.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public enum Change: Hashable, Sendable {
        /// None.
        case identical
        /// The service has appeared.
        case added(NWBrowser.Result)
        /// The service has gone.
        case removed(NWBrowser.Result)
        /// The service is there as before, and something about it is different.
        case changed(old: NWBrowser.Result, new: NWBrowser.Result, flags: NWBrowser.Result.Change.Flags)

        /// Finds the difference. `nil` stands for "not there".
        ///
        /// Results of different endpoints count as one service with whatever else differs: whom to compare is the
        /// caller's choice.
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

        /// What is different about a service.
        ///
        /// Counterpart: macOS 10.15, iOS 13.
        public struct Flags: OptionSet, Hashable, Sendable {
            public let rawValue: UInt8

            public init(rawValue: UInt8) {
                self.rawValue = rawValue
            }

            /// Nothing.
            public static let identical = Flags(rawValue: 0x01)
            /// It is seen on one more interface.
            public static let interfaceAdded = Flags(rawValue: 0x08)
            /// It is no longer seen on an interface.
            public static let interfaceRemoved = Flags(rawValue: 0x10)
            /// It tells something else about itself.
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
