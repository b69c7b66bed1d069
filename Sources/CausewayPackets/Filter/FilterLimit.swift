/// The limits of numbers and of the nesting in filter expressions.
enum FilterLimit {
    static let prefixLength4: UInt32 = 32
    static let prefixLength6: UInt32 = 128
    static let port = UInt32(UInt16.max)
    static let byteValue = UInt32(UInt8.max)
    static let byteOffset = UInt32(UInt16.max)
    static let protocolNumber = UInt32(UInt8.max)
    static let etherType = UInt32(UInt16.max)
    /// The largest shift of a 32-bit number.
    static let shift: UInt32 = 31
    /// The largest index of a byte. Larger numbers are negative numbers of BPF.
    static let index: UInt32 = 0x7FFF_0000
    /// The areas and the nodes of DECnet addresses, of 6 and 10 bits.
    static let decnetArea: UInt32 = 63
    static let decnetNode: UInt32 = 1023

    /// The nesting of arithmetic operands, and of parentheses in arithmetic.
    static let operandDepth = 50
    static let arithmeticDepth = 40
}
