/// The Internet protocol, versions 4 and 6: a namespace.
///
/// Counterpart: macOS 10.14, iOS 12.
// SAFETY: no stored properties.
public class NWProtocolIP: NWProtocol, @unchecked Sendable {
    /// The identity of IP.
    public static let definition = NWProtocolDefinition(name: "ip")

    /// An explicit congestion notification codepoint (RFC 3168 §5).
    public enum ECN: Equatable, Hashable, Sendable {
        /// The transport does not take part (codepoint 00).
        case nonECT
        /// ECN-capable transport, codepoint 10.
        case ect0
        /// ECN-capable transport, codepoint 01. RFC 9331 §4 gives it to L4S traffic.
        case ect1
        /// Congestion experienced (codepoint 11). Routers set it.
        case ce
    }
}

extension NWProtocolIP.ECN {
    /// The codepoint in the low two bits of a traffic class byte; the other six are ignored.
    package init(trafficClass: UInt8) {
        switch trafficClass & 0b11 {
        case 0b01: self = .ect1
        case 0b10: self = .ect0
        case 0b11: self = .ce
        default: self = .nonECT
        }
    }

    /// The two bits that go into the traffic class byte.
    package var codepoint: UInt8 {
        switch self {
        case .nonECT: 0b00
        case .ect1: 0b01
        case .ect0: 0b10
        case .ce: 0b11
        }
    }
}
