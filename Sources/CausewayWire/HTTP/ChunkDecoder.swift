/// Decodes the chunked transfer coding (RFC 9112 §7.1) from input pieces of any size.
///
/// Content is returned as slices of the input, without a copy. Chunk extensions are skipped. The decoder stores only counters and the
/// trailer section.
package struct ChunkDecoder: Sendable {
    /// A decoded body part.
    package enum Element: Equatable, Sendable {
        /// A piece of content, which is never empty.
        case content(ArraySlice<UInt8>)
        /// The end of the body, with the trailer fields. No element follows.
        case end(FieldSection)
    }

    private enum Phase: Equatable {
        /// The decoder reads a chunk size, of which it has read `digits` digits.
        case size(digits: Int)
        /// The decoder skips white space after the chunk size.
        case padding
        /// The decoder skips a chunk's extensions (RFC 9112 §7.1.1).
        case extensions
        case sizeLineFeed
        case content
        case contentReturn
        case contentLineFeed
        case trailers
        case ended
    }

    /// Maximum length of one chunk's extensions in bytes.
    package static let maximumExtensionCount = 4 << 10
    /// The limit on chunk extensions in a body: their bytes may exceed the content bytes by this number. Without the
    /// limit, a peer could send thousands of extension bytes for each content byte.
    package static let maximumExtensionExcess = 16 << 10
    /// The maximum number of digits in a chunk size. Some servers add leading zeros. Without them, at most 15 digits
    /// are permitted, so that the size fits into `Int`.
    private static let maximumDigitCount = 16

    private var phase = Phase.size(digits: 0)
    /// The current chunk's size; while its content is decoded, the number of bytes that remain.
    private var left = 0
    private var extensionCount = 0
    private var extensionExcess = 0
    /// Number of bytes consumed, for positions in errors.
    private var position = 0
    private var trailers: HeadReader

    /// - Parameter limits: The trailer section limits.
    package init(limits: HeadReader.Limits = HeadReader.Limits()) {
        trailers = HeadReader(.trailers, limits: limits)
    }

    /// Whether the end of the body was decoded.
    package var hasEnded: Bool { phase == .ended }

    /// Decodes the next element, and removes the consumed bytes from `input`.
    ///
    /// - Returns: `nil` if all input is consumed, or after the end of the body.
    /// - Throws: ``HTTPSyntaxError``. The error does not depend on how the input is split. The decoder must not be used afterwards.
    package mutating func next(_ input: inout ArraySlice<UInt8>) throws(HTTPSyntaxError) -> Element? {
        while !input.isEmpty {
            switch phase {
            case .content: return takeContent(&input)
            case .trailers: return try takeTrailers(&input)
            case .ended: return nil
            case .size, .padding, .extensions, .sizeLineFeed, .contentReturn, .contentLineFeed:
                try take(input[input.startIndex])
                input = input.dropFirst()
                position += 1
            }
        }
        return nil
    }

    private mutating func takeContent(_ input: inout ArraySlice<UInt8>) -> Element {
        let piece = input.prefix(left)
        input = input.dropFirst(piece.count)
        left -= piece.count
        position += piece.count
        extensionExcess = max(0, extensionExcess - piece.count)
        if left == 0 { phase = .contentReturn }
        return .content(piece)
    }

    private mutating func takeTrailers(_ input: inout ArraySlice<UInt8>) throws(HTTPSyntaxError) -> Element? {
        let count: Int
        do {
            count = try trailers.take(input)
        } catch .invalid(let element, let place) {
            throw .invalid(element, at: position + place)
        }
        input = input.dropFirst(count)
        guard trailers.isComplete else { return nil }
        phase = .ended
        return .end(trailers.finishFields())
    }

    private mutating func take(_ byte: UInt8) throws(HTTPSyntaxError) {
        switch phase {
        case .size(let digits): try takeSize(byte, digits)
        case .padding:
            if HTTPCharacters.isSpace(byte) { return try countExtension() }
            try endSize(byte)
        case .extensions:
            if byte == HTTPCharacters.carriageReturn { return phase = .sizeLineFeed }
            guard HTTPCharacters.isFieldValue(byte) else { throw .invalid("chunk extension", at: position) }
            try countExtension()
        case .sizeLineFeed:
            guard byte == HTTPCharacters.lineFeed else { throw .invalid("chunk size", at: position) }
            phase = left == 0 ? .trailers : .content
        case .contentReturn:
            guard byte == HTTPCharacters.carriageReturn else { throw .invalid("end of a chunk", at: position) }
            phase = .contentLineFeed
        case .contentLineFeed:
            guard byte == HTTPCharacters.lineFeed else { throw .invalid("end of a chunk", at: position) }
            phase = .size(digits: 0)
        case .content, .trailers, .ended: break
        }
    }

    private mutating func takeSize(_ byte: UInt8, _ digits: Int) throws(HTTPSyntaxError) {
        guard let digit = Hexadecimal.value(of: byte) else {
            guard digits > 0 else { throw .invalid("chunk size", at: position) }
            extensionCount = 0
            return try endSize(byte)
        }
        guard digits < Self.maximumDigitCount, left <= Int.max >> 4 else { throw .invalid("chunk size", at: position) }
        left = left << 4 | Int(digit)
        phase = .size(digits: digits + 1)
    }

    /// Handles the byte after the chunk size and any white space that follows it.
    private mutating func endSize(_ byte: UInt8) throws(HTTPSyntaxError) {
        switch byte {
        case HTTPCharacters.carriageReturn: phase = .sizeLineFeed
        case HTTPCharacters.semicolon:
            phase = .extensions
            try countExtension()
        case HTTPCharacters.space, HTTPCharacters.tab:
            phase = .padding
            try countExtension()
        default: throw .invalid("chunk size", at: position)
        }
    }

    private mutating func countExtension() throws(HTTPSyntaxError) {
        extensionCount += 1
        extensionExcess += 1
        guard extensionCount <= Self.maximumExtensionCount else {
            throw .limitExceeded("bytes in a chunk extension", limit: Self.maximumExtensionCount)
        }
        guard extensionExcess <= Self.maximumExtensionExcess else {
            throw .limitExceeded("bytes in chunk extensions", limit: Self.maximumExtensionExcess)
        }
    }
}
