/// The bytes end before what was asked for.
public struct CutOff: Error, Equatable {
    public init() {}
}

/// Borrowed octets of a packet, of which every access is checked.
///
/// Offsets come from untrusted fields: any value is allowed, and one that leads outside is answered by ``CutOff``. Integers are read in
/// network byte order. A view is as cheap as a pointer and a length, and cannot outlive the bytes it shows.
public struct Octets: ~Escapable {
    @usableFromInline let bytes: RawSpan

    /// Shows `bytes`.
    @_lifetime(copy bytes)
    @inlinable
    public init(_ bytes: RawSpan) { self.bytes = bytes }

    /// Shows an array's octets.
    @_lifetime(copy octets)
    @inlinable
    public init(_ octets: Span<UInt8>) {
        // Octets are initialized bytes without padding.
        self.bytes = unsafe octets.bytes
    }

    /// How many octets there are.
    @inlinable public var count: Int { bytes.byteCount }

    /// The octets as the standard library shows them.
    @inlinable public var rawSpan: RawSpan {
        @_lifetime(copy self) get { bytes }
    }

    /// Whether `length` octets from `offset` on are there.
    @inlinable @inline(__always)
    public func holds(_ length: Int, at offset: Int) -> Bool {
        offset >= 0 && length >= 0 && offset <= count && length <= count &- offset
    }

    /// Throws unless `length` octets from `offset` on are there.
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

    /// The octet at `offset`.
    @inlinable @inline(__always)
    public func u8(_ offset: Int) throws(CutOff) -> UInt8 { try load(UInt8.self, offset) }
    /// Two octets.
    @inlinable @inline(__always)
    public func u16(_ offset: Int) throws(CutOff) -> UInt16 { try load(UInt16.self, offset) }
    /// Three octets.
    @inlinable @inline(__always)
    public func u24(_ offset: Int) throws(CutOff) -> UInt32 {
        try require(3, at: offset)
        return try UInt32(u16(offset)) << 8 | UInt32(u8(offset &+ 2))
    }
    /// Four octets.
    @inlinable @inline(__always)
    public func u32(_ offset: Int) throws(CutOff) -> UInt32 { try load(UInt32.self, offset) }
    /// Eight octets.
    @inlinable @inline(__always)
    public func u64(_ offset: Int) throws(CutOff) -> UInt64 { try load(UInt64.self, offset) }

    /// The octet at `offset`, for code that already knows that it is there; 0 otherwise.
    @inlinable @inline(__always)
    subscript(offset: Int) -> UInt8 {
        guard offset >= 0, offset < count else { return 0 }
        return unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    /// Everything from `offset` on; nothing where that lies outside.
    @_lifetime(copy self)
    @inlinable
    public func from(_ offset: Int) -> Octets {
        part(min(max(offset, 0), count), count)
    }

    /// The first `length` octets, or all where there are fewer.
    @_lifetime(copy self)
    @inlinable
    public func prefix(_ length: Int) -> Octets {
        part(0, min(max(length, 0), count))
    }

    /// The octets from `start` to before `end`, as far as they are there. Both come from packets: none where the end comes first.
    @_lifetime(copy self)
    @inlinable
    public func clamped(_ start: Int, _ end: Int) -> Octets {
        let start = min(max(start, 0), count)
        return part(start, max(start, min(end, count)))
    }

    /// What the caller has confined to the octets that are there already: it is not checked once more.
    @_lifetime(copy self)
    @inlinable @inline(__always)
    func part(_ start: Int, _ end: Int) -> Octets {
        assert(start >= 0 && start <= end && end <= count)
        return Octets(unsafe bytes.extracting(unchecked: Range(uncheckedBounds: (start, end))))
    }

    /// The octets of `range` as far as they are there.
    @_lifetime(copy self)
    @inlinable
    public func clamped(_ range: Range<Int>) -> Octets { clamped(range.lowerBound, range.upperBound) }

    /// A copy.
    public var array: [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            for index in 0..<count { unsafe buffer[index] = self[index] }
            initialized = count
        }
    }
}
