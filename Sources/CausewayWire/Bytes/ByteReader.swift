/// A cursor over a ``ByteView``.
///
/// Each read either consumes exactly the bytes that it returns, or throws and consumes nothing. No input makes the reader trap, read
/// outside its bytes, or allocate more than the caller requested.
package struct ByteReader: ~Escapable {
    private let view: ByteView
    /// The position of the first byte in the outermost buffer. It is 0 unless the reader covers a part of a larger
    /// buffer.
    private let base: Int
    /// Number of bytes consumed.
    package private(set) var offset: Int

    /// Creates a reader at the start of `bytes`.
    ///
    /// - Parameter base: The position of `bytes` in a larger buffer. Positions in errors are counted from the start of
    ///   that buffer.
    @_lifetime(copy bytes)
    package init(_ bytes: RawSpan, base: Int = 0) {
        self.view = ByteView(bytes)
        self.base = base
        self.offset = 0
    }

    /// Creates a reader at the start of `bytes`.
    @_lifetime(copy bytes)
    package init(_ bytes: Span<UInt8>) {
        // The raw bytes of some types include uninitialized padding. UInt8 has no padding, so this view is safe.
        self.init(unsafe bytes.bytes)
    }

    /// Number of bytes not yet consumed.
    package var remaining: Int { view.count - offset }

    package var isAtEnd: Bool { remaining == 0 }

    /// The next byte's position in the outermost buffer. Errors report this position.
    package var position: Int { base + offset }

    /// Reads one integer in network byte order.
    package mutating func readInteger<T: FixedWidthInteger & BitwiseCopyable>(
        as type: T.Type = T.self
    ) throws(WireError) -> T {
        T(bigEndian: try readHostInteger())
    }

    /// Reads one little-endian integer.
    package mutating func readLittleEndian<T: FixedWidthInteger & BitwiseCopyable>(
        as type: T.Type = T.self
    ) throws(WireError) -> T {
        T(littleEndian: try readHostInteger())
    }

    /// Reads one integer in the host's byte order, which kernel interfaces use.
    package mutating func readHostInteger<T: FixedWidthInteger & BitwiseCopyable>(
        as type: T.Type = T.self
    ) throws(WireError) -> T {
        let size = MemoryLayout<T>.size
        try require(size)
        let value = try view.load(T.self, offset)
        offset += size
        return value
    }

    /// Returns the byte at `distance` bytes after the cursor without consuming it; `nil` if there is no such byte.
    package func peek(at distance: Int = 0) -> UInt8? {
        guard distance >= 0, distance < remaining else { return nil }
        return view[offset + distance]
    }

    /// Borrows the next `count` bytes without copying.
    @_lifetime(copy self)
    package mutating func readSpan(_ count: Int) throws(WireError) -> RawSpan {
        try require(count)
        let slice = view.clamped(offset, offset + count).rawSpan
        offset += count
        return slice
    }

    /// Borrows all remaining bytes without copying. The result may be empty.
    @_lifetime(copy self)
    package mutating func readRest() -> RawSpan {
        let slice = view.from(offset).rawSpan
        offset = view.count
        return slice
    }

    /// Returns a reader for the next `count` bytes, and moves this reader behind these bytes. If the new reader reports
    /// an error, the error contains the position in the outermost buffer.
    @_lifetime(copy self)
    package mutating func readScope(_ count: Int) throws(WireError) -> ByteReader {
        let start = position
        return ByteReader(try readSpan(count), base: start)
    }

    /// Copies the next `count` bytes.
    package mutating func readBytes(_ count: Int) throws(WireError) -> [UInt8] {
        ByteView(try readSpan(count)).array
    }

    /// Copies the next `count` bytes to the end of `bytes`, without a temporary array.
    package mutating func readBytes(_ count: Int, appendingTo bytes: inout [UInt8]) throws(WireError) {
        unsafe try readSpan(count).withUnsafeBytes { source in unsafe bytes.append(contentsOf: source) }
    }

    package mutating func skip(_ count: Int) throws(WireError) {
        try require(count)
        offset += count
    }

    /// Skips to the next multiple of `alignment` bytes, counted from the start of this reader. Stops at the end of the
    /// input, because in many formats the last element has no padding.
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
