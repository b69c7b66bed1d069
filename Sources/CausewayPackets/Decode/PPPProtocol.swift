/// The PPP protocol field (RFC 1661 §2; IANA registry "PPP DLL Protocol Numbers").
enum PPPProtocol {
    static let ipv4: UInt16 = 0x0021
    static let ipv6: UInt16 = 0x0057
    static let mplsUnicast: UInt16 = 0x0281
    static let mplsMulticast: UInt16 = 0x0283
    static let ipcp: UInt16 = 0x8021
    static let ipv6cp: UInt16 = 0x8057
    static let lcp: UInt16 = 0xC021

    /// The address and control fields: all stations, unnumbered information (RFC 1662 §3.1).
    static let addressAndControl: UInt16 = 0xFF03

    /// Returns the protocol number at `offset`, and its size of one or two bytes. With protocol field compression (RFC
    /// 1661 §6.5), a number below 256 may be sent without its leading zero byte. The two forms differ in the first
    /// byte: it is odd in the one-byte form, and even in the two-byte form.
    static func number(_ p: borrowing ByteView, at offset: Int) throws(WireError) -> (number: UInt16, byteCount: Int) {
        let first = try p.u8(offset)
        if first & 1 != 0 { return (UInt16(first), 1) }
        return (try p.u16(offset), 2)
    }
}
