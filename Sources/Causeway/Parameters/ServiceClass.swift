extension NWParameters {
    /// What kind of traffic a connection carries. It becomes the DSCP field of sent packets.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum ServiceClass: Sendable, Equatable, Hashable {
        /// Anything without special needs: the default.
        case bestEffort
        /// Transfers that nobody waits for.
        case background
        /// Video calls.
        case interactiveVideo
        /// Voice calls.
        case interactiveVoice
        /// Data that somebody waits for.
        case responsiveData
        /// Call control.
        case signaling
    }

    /// When Multipath TCP (RFC 8684) uses its second path.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum MultipathServiceType: Sendable, Equatable, Hashable {
        /// Never: plain TCP, the default.
        case disabled
        /// When the first path fails.
        case handover
        /// Early, to keep latency low.
        case interactive
        /// Always, for throughput.
        case aggregate
    }

    /// Whether DNS answers past their time to live may be used (RFC 8767 §4).
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum ExpiredDNSBehavior: Sendable, Equatable, Hashable {
        /// The system decides: the default.
        case systemDefault
        /// At once, while a fresh query runs.
        case allow
        /// Never.
        case prohibit
        /// As `allow`, and answers survive the process.
        ///
        /// Counterpart: macOS 15, iOS 18.
        case persistent
    }

    /// Who chose the destination of a connection.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public enum Attribution: Sendable, Equatable, Hashable {
        /// The program: the default.
        case developer
        /// The person who uses the program.
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

    /// The class that a received codepoint stands for; `.bestEffort` when it stands for none.
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
