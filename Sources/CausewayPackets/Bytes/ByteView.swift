/// The bytes end before what was asked for.
public struct CutOff: Error, Equatable {
    public init() {}
}

/// Borrowed bytes of a packet, of which every access is checked.
///
/// Offsets come from untrusted fields: any value is allowed, and one that leads outside is answered by ``CutOff``. Integers are read in
/// network byte order. A view is as cheap as a pointer and a length, and cannot outlive the bytes it shows.
public struct ByteView: ~Escapable {
    @usableFromInline let bytes: RawSpan

    /// Shows `bytes`.
    @_lifetime(copy bytes)
    @inlinable
    public init(_ bytes: RawSpan) { self.bytes = bytes }

    /// Shows an array's bytes.
    @_lifetime(copy bytes)
    @inlinable
    public init(_ bytes: Span<UInt8>) {
        // Bytes are initialized bytes without padding.
        self.bytes = unsafe bytes.bytes
    }

    /// How many bytes there are.
    @inlinable public var count: Int { bytes.byteCount }

    /// The bytes as the standard library shows them.
    @inlinable public var rawSpan: RawSpan {
        @_lifetime(copy self) get { bytes }
    }

    /// Whether `length` bytes from `offset` on are there.
    @inlinable @inline(__always)
    public func holds(_ length: Int, at offset: Int) -> Bool {
        offset >= 0 && length >= 0 && offset <= count && length <= count &- offset
    }

    /// Throws unless `length` bytes from `offset` on are there.
    @inlinable @inline(__always)
    public func require(_ length: Int, at offset: Int) throws(CutOff) {
        guard holds(length, at: offset) else { throw CutOff() }
    }

    @inlinable @inline(__always)
    func load<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, _ offset: Int) throws(CutOff) -> T {
        let width = MemoryLayout<T>.size
        guard offset >= 0, count >= width, offset <= count &- width else { throw CutOff() }
        // In bounds by the line above, and every bit pattern is a valid integer.
        return T(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: T.self))
    }

    /// The byte at `offset`.
    @inlinable @inline(__always)
    public func u8(_ offset: Int) throws(CutOff) -> UInt8 { try load(UInt8.self, offset) }
    /// Two bytes.
    @inlinable @inline(__always)
    public func u16(_ offset: Int) throws(CutOff) -> UInt16 { try load(UInt16.self, offset) }
    /// Three bytes.
    @inlinable @inline(__always)
    public func u24(_ offset: Int) throws(CutOff) -> UInt32 {
        try require(3, at: offset)
        return try UInt32(u16(offset)) << 8 | UInt32(u8(offset &+ 2))
    }
    /// Four bytes.
    @inlinable @inline(__always)
    public func u32(_ offset: Int) throws(CutOff) -> UInt32 { try load(UInt32.self, offset) }
    /// Eight bytes.
    @inlinable @inline(__always)
    public func u64(_ offset: Int) throws(CutOff) -> UInt64 { try load(UInt64.self, offset) }

    /// The byte at `offset`, for code that already knows that it is there; 0 otherwise.
    @inlinable @inline(__always)
    subscript(offset: Int) -> UInt8 {
        guard offset >= 0, offset < count else { return 0 }
        return unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    /// Everything from `offset` on; nothing where that lies outside.
    @_lifetime(copy self)
    @inlinable
    public func from(_ offset: Int) -> ByteView {
        part(min(max(offset, 0), count), count)
    }

    /// The first `length` bytes, or all where there are fewer.
    @_lifetime(copy self)
    @inlinable
    public func prefix(_ length: Int) -> ByteView {
        part(0, min(max(length, 0), count))
    }

    /// The bytes from `start` to before `end`, as far as they are there. Both come from packets: none where the end comes first.
    @_lifetime(copy self)
    @inlinable
    public func clamped(_ start: Int, _ end: Int) -> ByteView {
        let start = min(max(start, 0), count)
        return part(start, max(start, min(end, count)))
    }

    /// What the caller has confined to the bytes that are there already: it is not checked once more.
    @_lifetime(copy self)
    @inlinable @inline(__always)
    func part(_ start: Int, _ end: Int) -> ByteView {
        assert(start >= 0 && start <= end && end <= count)
        return ByteView(unsafe bytes.extracting(unchecked: Range(uncheckedBounds: (start, end))))
    }

    /// The bytes of `range` as far as they are there.
    @_lifetime(copy self)
    @inlinable
    public func clamped(_ range: Range<Int>) -> ByteView { clamped(range.lowerBound, range.upperBound) }

    /// A copy.
    public var array: [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            for index in 0..<count { unsafe buffer[index] = self[index] }
            initialized = count
        }
    }
}
