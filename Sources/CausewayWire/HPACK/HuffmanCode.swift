/// The HPACK Huffman code (RFC 7541 §5.2, Appendix B).
///
/// The code is canonical, so the lengths of the codes determine all codes. Codes of equal length are consecutive
/// numbers, in the order of their symbols. The first code of a length follows the last code of the next shorter length.
struct HuffmanCode: Sendable {
    static let shared = HuffmanCode()

    /// The number of bits that index the lookup table. The codes for letters, digits and common punctuation are not
    /// longer than this, so the table contains them.
    static let lookupBits = 10
    /// The longest code length in bits.
    static let maximumLength = 30
    /// The end-of-string symbol. An encoder must not write this symbol. The first bits of its code serve as padding in
    /// the last byte.
    static let endSymbol = 256

    /// Each symbol's code, in the low bits.
    let codes: [UInt32]
    /// Each symbol's code length in bits.
    let lengths: [UInt8]
    /// The decoding table. The index consists of the next ``lookupBits`` bits of the input. If these bits begin with a
    /// symbol's code, the value is the symbol, shifted left by 4, plus the code length. If they contain no whole code,
    /// the value is 0.
    let lookup: [UInt16]
    /// The symbols in code order.
    let ordered: [UInt16]
    /// For each code length, the first code that has this length.
    let firstCodes: [UInt32]
    /// For each code length: the position in ``ordered`` of the first code with this length.
    let firstPositions: [Int]
    /// The number of codes for each code length.
    let counts: [Int]

    private init() {
        let lengths = Self.codeLengths
        let ordered = lengths.indices.sorted { (lengths[$0], $0) < (lengths[$1], $1) }
        var codes = [UInt32](repeating: 0, count: lengths.count)
        var firstCodes = [UInt32](repeating: 0, count: Self.maximumLength + 1)
        var firstPositions = [Int](repeating: 0, count: Self.maximumLength + 1)
        var counts = firstPositions
        var lookup = [UInt16](repeating: 0, count: 1 << Self.lookupBits)
        var next: UInt32 = 0
        var length = 0
        for (position, symbol) in ordered.enumerated() {
            while length < Int(lengths[symbol]) {
                next <<= 1
                length += 1
                firstCodes[length] = next
                firstPositions[length] = position
            }
            codes[symbol] = next
            counts[length] += 1
            if length <= Self.lookupBits {
                let free = Self.lookupBits - length
                let entry = UInt16(symbol) << 4 | UInt16(length)
                for rest in 0..<(1 << free) { lookup[Int(next) << free | rest] = entry }
            }
            next += 1
        }
        self.lengths = lengths
        self.ordered = ordered.map { UInt16($0) }
        self.codes = codes
        self.firstCodes = firstCodes
        self.firstPositions = firstPositions
        self.counts = counts
        self.lookup = lookup
    }

    /// The code lengths for all bytes and ``endSymbol``, in bits (RFC 7541, Appendix B).
    private static let codeLengths: [UInt8] = [
        // The lengths for control characters.
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
        28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        // The lengths for the characters from the space to `/`.
        6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
        // The lengths for the characters from `0` to `?`.
        5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
        // The lengths for the characters from `@` to `_`, including upper-case letters.
        13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
        7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
        // The lengths for the characters from the grave accent to DEL, including lower-case letters.
        15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
        6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
        // The code lengths for the bytes from 128 to 255, which are not ASCII.
        20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
        24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
        22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
        21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
        26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
        19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
        20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
        26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
        // The length for the end-of-string symbol.
        30,
    ]
}
