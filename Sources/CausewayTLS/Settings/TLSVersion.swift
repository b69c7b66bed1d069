/// A protocol version with its number on the wire (RFC 8446 §4.2.1).
package enum TLSVersion: UInt16, Hashable, Sendable, CaseIterable {
    case tls10 = 0x0301
    case tls11 = 0x0302
    case tls12 = 0x0303
    case tls13 = 0x0304
    case dtls10 = 0xfeff
    case dtls12 = 0xfefd

    var isForDatagrams: Bool { self == .dtls10 || self == .dtls12 }
}
