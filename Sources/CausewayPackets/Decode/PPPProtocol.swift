/// The protocol field of PPP (RFC 1661 §2).
enum PPPProtocol {
    /// Reads the protocol number and its size in bytes: one byte if the peers negotiated protocol field compression (RFC 1661 §6.5), which
    /// omits a first byte of zero. The first byte of a full number is even.
    static func number(_ p: borrowing ByteView, at offset: Int) throws(WireError) -> (number: UInt16, byteCount: Int) {
        let first = try p.u8(offset)
        if first & 1 != 0 { return (UInt16(first), 1) }
        return (try p.u16(offset), 2)
    }
}
