/// The number by which PPP tells what it carries (RFC 1661 §2).
enum PPPProtocol {
    /// The number, and of how many bytes it is: one where peers have agreed to leave out the first, which is zero then (RFC 1661 §6.5).
    /// Whole numbers have an even first byte.
    static func number(_ p: borrowing ByteView, at offset: Int) throws(CutOff) -> (number: UInt16, byteCount: Int) {
        let first = try p.u8(offset)
        if first & 1 != 0 { return (UInt16(first), 1) }
        return (try p.u16(offset), 2)
    }
}
