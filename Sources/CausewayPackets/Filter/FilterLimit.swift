/// The limits for numbers and nesting in filter expressions.
enum FilterLimit {
    static let prefixLength4: UInt32 = 32
    static let prefixLength6: UInt32 = 128
    static let port = UInt32(UInt16.max)
    static let byteValue = UInt32(UInt8.max)
    static let byteOffset = UInt32(UInt16.max)
    static let protocolNumber = UInt32(UInt8.max)
    static let etherType = UInt32(UInt16.max)
    /// The largest shift for a 32-bit number.
    static let shift: UInt32 = 31
    /// The largest byte offset. BPF treats larger numbers as negative.
    static let index: UInt32 = 0x7FFF_0000
    /// The largest area (6 bits) and the largest node (10 bits) in a DECnet address.
    static let decnetArea: UInt32 = 63
    static let decnetNode: UInt32 = 1023

    /// The maximum nesting depth for arithmetic operands, and for parentheses in arithmetic expressions.
    static let operandDepth = 50
    static let arithmeticDepth = 40
    /// The maximum number of changes between "and" and "or" along one path through the tree of an expression, and of
    /// arithmetic operators in one comparison. Each one makes the tree deeper, and functions walk through it
    /// recursively.
    static let alternations = 256
    static let operations = 256
}
