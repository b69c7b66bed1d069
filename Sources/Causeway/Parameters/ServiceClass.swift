extension NWParameters {
    /// A connection's kind of traffic, which determines the DSCP field in sent packets.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum ServiceClass: Sendable, Equatable, Hashable {
        /// Traffic without special needs: the default.
        case bestEffort
        /// Transfers for which no user is waiting.
        case background
        /// Video calls.
        case interactiveVideo
        /// Audio in voice calls.
        case interactiveVoice
        /// Data for which a user is waiting.
        case responsiveData
        /// Call control.
        case signaling
    }

    /// How Multipath TCP (RFC 8684) uses additional paths.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum MultipathServiceType: Sendable, Equatable, Hashable {
        /// Uses no additional path: plain TCP, the default.
        case disabled
        /// Uses a second path if the first path fails.
        case handover
        /// Uses a second path early, for low latency.
        case interactive
        /// Uses all paths at the same time, for throughput.
        case aggregate
    }

    /// Whether to use DNS answers with an expired TTL (RFC 8767 §4).
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum ExpiredDNSBehavior: Sendable, Equatable, Hashable {
        /// The system decides whether to use expired answers. This is the default.
        case systemDefault
        /// Use expired answers immediately while a new query runs.
        case allow
        /// Never use expired answers.
        case prohibit
        /// Like `allow`. Apple's systems also keep the answers after the process has ended; Causeway does not.
        ///
        /// Counterpart: macOS 15, iOS 18.
        case persistent
    }

    /// Whether the program or its user chose a connection's destination.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public enum Attribution: Sendable, Equatable, Hashable {
        /// The program itself chose the destination. This is the default.
        case developer
        /// The program's user chose the destination.
        case user
    }
}

extension NWParameters.ServiceClass {
    /// The differentiated services codepoint, a six-bit number (RFC 4594 §2.3).
    package var dscp: UInt8 {
        switch self {
        case .bestEffort: 0  // CS0
        case .background: 8  // CS1: low-priority data, RFC 4594 §4.10
        case .interactiveVideo: 34  // AF41: multimedia conferencing, RFC 4594 §4.3
        case .interactiveVoice: 46  // EF: telephony, RFC 4594 §4.1
        case .responsiveData: 18  // AF21: low-latency data, RFC 4594 §4.7
        case .signaling: 24  // CS3
        }
    }

    /// The class for a received codepoint; `.bestEffort` for an unknown codepoint.
    package init(dscp: UInt8) {
        switch dscp {
        case 8: self = .background
        case 34: self = .interactiveVideo
        case 46: self = .interactiveVoice
        case 18: self = .responsiveData
        case 24: self = .signaling
        default: self = .bestEffort
        }
    }
}
