/// Borrowed bytes with bounds-checked access.
///
/// Offsets come from untrusted fields and may have any value: an access with an offset outside the bytes throws
/// ``WireError/truncated(needed:available:at:)``. Integers are read in network byte order. A view consists of a pointer and a length, and
/// cannot outlive its bytes.
public struct ByteView: ~Escapable {
    @usableFromInline let bytes: RawSpan

    /// Creates a view of `bytes`.
    @_lifetime(copy bytes)
    @inlinable
    public init(_ bytes: RawSpan) { self.bytes = bytes }

    /// Creates a view of an array's bytes.
    @_lifetime(copy bytes)
    @inlinable
    public init(_ bytes: Span<UInt8>) {
        // Reading the elements as raw bytes is safe: the bytes of a `UInt8` span are initialized and have no padding.
        self.bytes = unsafe bytes.bytes
    }

    /// The number of bytes.
    @inlinable public var count: Int { bytes.byteCount }

    /// The bytes as a standard library span.
    @inlinable public var rawSpan: RawSpan {
        @_lifetime(copy self) get { bytes }
    }

    /// Whether the view has `length` bytes from `offset` on.
    @inlinable @inline(__always)
    public func holds(_ length: Int, at offset: Int) -> Bool {
        offset >= 0 && length >= 0 && offset <= count && length <= count &- offset
    }

    /// Throws ``WireError/truncated(needed:available:at:)`` unless the view has `length` bytes from `offset` on.
    @inlinable @inline(__always)
    public func require(_ length: Int, at offset: Int) throws(WireError) {
        guard holds(length, at: offset) else { throw truncation(length, at: offset) }
    }

    /// Returns the error for a read of `needed` bytes at `offset` outside the view. This method is not inlined, to keep the callers small.
    @usableFromInline @inline(never)
    func truncation(_ needed: Int, at offset: Int) -> WireError {
        let position = min(max(offset, 0), count)
        return .truncated(needed: max(needed, 1), available: count - position, at: position)
    }

    /// Returns the integer at `offset`, in the host's byte order.
    @inlinable @inline(__always)
    public func load<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, _ offset: Int) throws(WireError) -> T {
        let width = MemoryLayout<T>.size
        guard offset >= 0, count >= width, offset <= count &- width else { throw truncation(width, at: offset) }
        // This load is safe. The line above has checked the bounds, and every bit pattern is a valid integer.
        return unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: T.self)
    }

    @inlinable @inline(__always)
    func loadBigEndian<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, _ offset: Int) throws(WireError) -> T {
        T(bigEndian: try load(type, offset))
    }

    /// Returns the byte at `offset`.
    @inlinable @inline(__always)
    public func u8(_ offset: Int) throws(WireError) -> UInt8 { try load(UInt8.self, offset) }
    /// Returns the 16-bit integer at `offset`.
    @inlinable @inline(__always)
    public func u16(_ offset: Int) throws(WireError) -> UInt16 { try loadBigEndian(UInt16.self, offset) }
    /// Returns the 24-bit integer at `offset`.
    @inlinable @inline(__always)
    public func u24(_ offset: Int) throws(WireError) -> UInt32 {
        try require(3, at: offset)
        return try UInt32(u16(offset)) << 8 | UInt32(u8(offset &+ 2))
    }
    /// Returns the 32-bit integer at `offset`.
    @inlinable @inline(__always)
    public func u32(_ offset: Int) throws(WireError) -> UInt32 { try loadBigEndian(UInt32.self, offset) }
    /// Returns the 64-bit integer at `offset`.
    @inlinable @inline(__always)
    public func u64(_ offset: Int) throws(WireError) -> UInt64 { try loadBigEndian(UInt64.self, offset) }

    /// Returns the byte at `offset`. The caller must check the range first, because the result is 0 if `offset` is
    /// outside the view.
    @inlinable @inline(__always)
    public subscript(offset: Int) -> UInt8 {
        guard offset >= 0, offset < count else { return 0 }
        return unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    /// Returns the bytes from `offset` to the end; empty if `offset` is outside the view.
    @_lifetime(copy self)
    @inlinable
    public func from(_ offset: Int) -> ByteView {
        part(min(max(offset, 0), count), count)
    }

    /// Returns the first `length` bytes, or all bytes if there are fewer.
    @_lifetime(copy self)
    @inlinable
    public func prefix(_ length: Int) -> ByteView {
        part(0, min(max(length, 0), count))
    }

    /// Returns the bytes of `start..<end` that lie inside the view; empty if `end` is less than `start`. Both offsets
    /// may be untrusted input.
    @_lifetime(copy self)
    @inlinable
    public func clamped(_ start: Int, _ end: Int) -> ByteView {
        let start = min(max(start, 0), count)
        return part(start, max(start, min(end, count)))
    }

    /// Returns the bytes in a range without a check. The caller guarantees that the range lies in the view.
    @_lifetime(copy self)
    @inlinable @inline(__always)
    func part(_ start: Int, _ end: Int) -> ByteView {
        assert(start >= 0 && start <= end && end <= count)
        return ByteView(unsafe bytes.extracting(unchecked: Range(uncheckedBounds: (start, end))))
    }

    /// Returns the bytes of `range` that lie inside the view.
    @_lifetime(copy self)
    @inlinable
    public func clamped(_ range: Range<Int>) -> ByteView { clamped(range.lowerBound, range.upperBound) }

    /// A copy of the bytes.
    public var array: [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            for index in 0..<count { unsafe buffer[index] = self[index] }
            initialized = count
        }
    }
}
