/// The limits of property lists from peers.
///
/// Foundation's decoder calls itself for each level of an XML property list, without a limit. An object of a binary
/// property list may refer to itself, or to another object many times, so that a short list decodes to a huge value.
package enum PropertyListBounds {
    /// The maximum depth, as for JSON in Foundation.
    static let depth = 512
    /// The maximum number of values. A value that is referred to several times counts each time.
    static let valueCount = 1 << 22

    /// Returns whether a property list can be decoded safely. Lists that cannot be decoded may be refused too.
    package static func contain(_ bytes: [UInt8]) -> Bool {
        if bytes.starts(with: binaryMark) { return BinaryPropertyListShape(bytes)?.isBounded ?? false }
        // The decoder also recognizes these marks of UTF-32, which no property list uses.
        guard !bytes.starts(with: [0, 0]), !bytes.starts(with: [0xFE, 0xFF, 0, 0]) else { return false }
        var depth = XMLPropertyListDepth(text(bytes))
        return depth.isAtMost(Self.depth)
    }

    private static let binaryMark = Array("bplist0".utf8)

    /// Returns an XML property list's text as UTF-8. The decoder recognizes UTF-16 by its byte order mark.
    private static func text(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.starts(with: [0xFE, 0xFF]) { return converted(bytes, high: 0, low: 1) }
        if bytes.starts(with: [0xFF, 0xFE]) { return converted(bytes, high: 1, low: 0) }
        return bytes
    }

    private static func converted(_ bytes: [UInt8], high: Int, low: Int) -> [UInt8] {
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
            UInt16(bytes[index + high]) << 8 | UInt16(bytes[index + low])
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}
