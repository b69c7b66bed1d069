/// Writes a frame's fields.
struct ActorFrameWriter {
    private(set) var bytes = ActorFrame.magic

    mutating func append(_ value: some FixedWidthInteger & UnsignedInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Appends a text. A text over 1,024 bytes is cut at a Unicode scalar boundary.
    mutating func append(_ text: String) {
        var part = text[...]
        if part.utf8.count > ActorLimits.textByteCount {
            var end = part.utf8.index(part.startIndex, offsetBy: ActorLimits.textByteCount)
            while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
            part = text[..<end]
        }
        append(UInt16(part.utf8.count))
        bytes += part.utf8
    }

    mutating func append(_ call: ActorCall) {
        append(call.id)
        append(call.actor)
        append(call.target)
        append(UInt8(truncatingIfNeeded: call.arguments.count))
        for argument in call.arguments {
            append(UInt32(truncatingIfNeeded: argument.count))
            bytes += argument
        }
    }

    mutating func append(_ listing: ActorListing) {
        append(listing.name.key)
        append(listing.name.type)
        append(listing.actor)
    }

    mutating func append(rest: [UInt8]) { bytes += rest }
}
