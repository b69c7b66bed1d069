/// The namespace for the Internet Protocol, versions 4 (RFC 791) and 6 (RFC 8200).
///
/// Counterpart: macOS 10.14, iOS 12.
// SAFETY: no stored properties.
public class NWProtocolIP: NWProtocol, @unchecked Sendable {
    /// The definition of IP.
    public static let definition = NWProtocolDefinition(name: "ip")

    /// An explicit congestion notification (ECN) codepoint (RFC 3168 §5).
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum ECN: Equatable, Hashable, Sendable {
        /// The transport does not support ECN (codepoint 00).
        case nonECT
        /// The transport supports ECN (codepoint 10).
        case ect0
        /// The transport supports ECN (codepoint 01). RFC 9331 §4 assigns this codepoint to L4S traffic.
        case ect1
        /// A router marked the packet because of congestion (codepoint 11).
        case ce
    }
}

extension NWProtocolIP.ECN {
    /// Reads the codepoint from the low two bits of a traffic class byte. The other six bits are ignored.
    package init(trafficClass: UInt8) {
        switch trafficClass & 0b11 {
        case 0b01: self = .ect1
        case 0b10: self = .ect0
        case 0b11: self = .ce
        default: self = .nonECT
        }
    }

    /// The codepoint as the low two bits of a traffic class byte.
    package var codepoint: UInt8 {
        switch self {
        case .nonECT: 0b00
        case .ect1: 0b01
        case .ect0: 0b10
        case .ce: 0b11
        }
    }
}
