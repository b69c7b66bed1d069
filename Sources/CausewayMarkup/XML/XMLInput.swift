/// The position in a document whose pieces arrive one after the other, and the conversion of its line breaks.
struct XMLInput: Sendable {
    /// The next byte's position.
    var place = XMLPlace()
    /// Whether the latest piece ended with a carriage return. A line feed at the start of the next piece belongs to the
    /// same line break.
    private var endsWithReturn = false

    /// Returns a piece in which each line break is one line feed (XML 1.0 §2.11). A line break is CR LF, LF or CR.
    ///
    /// The reader sees no carriage returns of the document, so one in a text or value comes from a reference (`&#13;`).
    mutating func normalized(_ bytes: [UInt8]) -> [UInt8] {
        guard endsWithReturn || bytes.contains(0x0D) else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte != 0x0A || !endsWithReturn { result.append(byte == 0x0D ? 0x0A : byte) }
            endsWithReturn = byte == 0x0D
        }
        return result
    }
}
