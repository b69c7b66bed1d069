/// A bounds-checked cursor over borrowed bytes.
///
/// Every read either consumes exactly what it returns or throws and consumes nothing. No input can make it trap,
/// read outside the bytes it was given, or allocate more than it was asked to return.
package struct ByteReader: ~Escapable {
    private let bytes: RawSpan
    /// Where the first byte of this reader lies in the outermost buffer; non-zero only for sub-readers.
    private let base: Int
    /// Bytes consumed so far.
    package private(set) var offset: Int

    /// Reads `bytes` from their beginning.
    ///
    /// - Parameter base: What to add to positions in errors, when `bytes` are a part of a larger buffer.
    @_lifetime(copy bytes)
    package init(_ bytes: RawSpan, base: Int = 0) {
        self.bytes = bytes
        self.base = base
        self.offset = 0
    }

    /// Reads an array's bytes from their beginning.
    @_lifetime(copy bytes)
    package init(_ bytes: Span<UInt8>) {
        // Every UInt8 is one initialized byte, so viewing them as raw bytes cannot expose padding.
        self.init(unsafe bytes.bytes)
    }

    /// Bytes not yet consumed.
    package var remaining: Int { bytes.byteCount - offset }

    package var isAtEnd: Bool { remaining == 0 }

    /// The cursor's place in the outermost buffer, as errors report it.
    package var position: Int { base + offset }

    /// Reads one integer in network byte order.
    package mutating func readInteger<T: FixedWidthInteger & BitwiseCopyable>(
        as type: T.Type = T.self
    ) throws(WireError) -> T {
        T(bigEndian: try readHostInteger())
    }

    /// Reads one integer whose least significant byte comes first.
    package mutating func readLittleEndian<T: FixedWidthInteger & BitwiseCopyable>(
        as type: T.Type = T.self
    ) throws(WireError) -> T {
        T(littleEndian: try readHostInteger())
    }

    /// Reads one integer in this machine's byte order, which is what the kernel's own interfaces use.
    package mutating func readHostInteger<T: FixedWidthInteger & BitwiseCopyable>(
        as type: T.Type = T.self
    ) throws(WireError) -> T {
        let size = MemoryLayout<T>.size
        try require(size)
        // In bounds by the line above, and every bit pattern is a valid integer.
        let value = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: T.self)
        offset += size
        return value
    }

    /// The byte `distance` places ahead, left unread; `nil` where the input has none.
    package func peek(at distance: Int = 0) -> UInt8? {
        guard distance >= 0, distance < remaining else { return nil }
        return unsafe bytes.unsafeLoad(fromByteOffset: offset + distance, as: UInt8.self)
    }

    /// Borrows the next `count` bytes without copying.
    @_lifetime(copy self)
    package mutating func readSpan(_ count: Int) throws(WireError) -> RawSpan {
        try require(count)
        let slice = bytes.extracting(offset..<(offset + count))
        offset += count
        return slice
    }

    /// Borrows everything that is left without copying. May be empty.
    @_lifetime(copy self)
    package mutating func readRest() -> RawSpan {
        let slice = bytes.extracting(offset..<bytes.byteCount)
        offset = bytes.byteCount
        return slice
    }

    /// A reader confined to the next `count` bytes, which this one skips. Errors keep outer positions.
    @_lifetime(copy self)
    package mutating func readScope(_ count: Int) throws(WireError) -> ByteReader {
        let start = position
        return ByteReader(try readSpan(count), base: start)
    }

    /// Copies the next `count` bytes.
    package mutating func readBytes(_ count: Int) throws(WireError) -> [UInt8] {
        try require(count)
        var copy: [UInt8] = []
        copy.reserveCapacity(count)
        for index in offset..<(offset + count) {
            copy.append(unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))
        }
        offset += count
        return copy
    }

    /// Copies the next `count` bytes to the end of an array, which takes no other one on the way.
    package mutating func readBytes(_ count: Int, appendingTo bytes: inout [UInt8]) throws(WireError) {
        unsafe try readSpan(count).withUnsafeBytes { source in unsafe bytes.append(contentsOf: source) }
    }

    package mutating func skip(_ count: Int) throws(WireError) {
        try require(count)
        offset += count
    }

    /// Skips to the next multiple of `alignment` bytes from this reader's beginning, or to the end if that is nearer:
    /// formats that pad between elements commonly leave the last one unpadded.
    package mutating func align(to alignment: Int) {
        guard alignment > 1 else { return }
        let excess = offset % alignment
        guard excess != 0 else { return }
        offset += min(alignment - excess, remaining)
    }

    private func require(_ count: Int) throws(WireError) {
        guard count >= 0 else { throw .invalid("length", at: position) }
        guard remaining >= count else { throw .truncated(needed: count, available: remaining, at: position) }
    }
}
