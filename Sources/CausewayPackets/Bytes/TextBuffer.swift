/// A reusable text buffer for printers. Writing allocates only when the text outgrows the buffer.
package struct TextBuffer: Sendable {
    /// The text, in the first `count` bytes, followed by unused capacity.
    private var storage: [UInt8] = []
    package private(set) var count = 0

    package init() {}

    /// A copy of the text's bytes.
    package var bytes: [UInt8] { Array(storage[..<count]) }
    package mutating func removeAll() { count = 0 }
    package var isEmpty: Bool { count == 0 }
    package var last: UInt8? { count > 0 ? storage[count - 1] : nil }
    package mutating func removeLast(_ count: Int) { self.count -= min(count, self.count) }
    /// The text. Invalid UTF-8 is replaced.
    package var string: String { String(decoding: storage[..<count], as: UTF8.self) }

    /// Appends the text to `buffer`.
    package func append(to buffer: inout [UInt8]) { buffer.append(contentsOf: storage[..<count]) }

    @inline(__always)
    private mutating func require(_ byteCount: Int) {
        if storage.count &- count < byteCount { grow(byteCount) }
    }
    @inline(never)
    private mutating func grow(_ byteCount: Int) {
        storage.append(contentsOf: repeatElement(0, count: max(byteCount, storage.count, 256)))
    }

    @inline(__always)
    private mutating func copy(_ bytes: UnsafeBufferPointer<UInt8>) {
        let (start, byteCount) = (count, bytes.count)
        require(byteCount)
        unsafe storage.withUnsafeMutableBytes { place in
            // This range is in bounds: `require` has reserved `byteCount` bytes after `start`.
            let place = unsafe UnsafeMutableRawBufferPointer(rebasing: place[start...])
            unsafe place.copyMemory(from: UnsafeRawBufferPointer(bytes))
        }
        count = start &+ byteCount
    }

    @inline(__always)
    package mutating func put(_ text: StaticString) {
        // The pointer is always valid, because the bytes of a static string are never freed.
        unsafe copy(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
    @_disfavoredOverload
    package mutating func put(_ text: String) {
        var text = text
        text.withUTF8 { unsafe copy($0) }
    }
    @inline(__always)
    package mutating func put(byte: UInt8) {
        require(1)
        storage[count] = byte
        count &+= 1
    }
    /// Appends a JSON member name in quotation marks, a colon, and the text `opening`. Capacity is reserved only once
    /// for all of them.
    ///
    /// The method is inlined, so that the compiler can know the name's length. It then copies the name in machine
    /// words, not byte by byte.
    @inline(__always)
    mutating func key(_ name: StaticString, afterComma: Bool, _ opening: StaticString = "") {
        let (length, openingLength) = (name.utf8CodeUnitCount, opening.utf8CodeUnitCount)
        require(length &+ openingLength &+ 4)
        let start = count &+ (afterComma ? 1 : 0)
        unsafe storage.withUnsafeMutableBytes { room in
            precondition(start &+ length &+ openingLength &+ 3 <= room.count)
            let place = unsafe room.baseAddress.unsafelyUnwrapped + start
            // Always store a comma. If no comma is needed, the name's opening quotation mark overwrites it, because it
            // has the same position.
            unsafe room[count] = 0x2C
            unsafe place.storeBytes(of: 0x22, as: UInt8.self)
            // These pointers stay valid, because a static string's bytes live as long as the program.
            unsafe (place + 1).copyMemory(from: name.utf8Start, byteCount: length)
            unsafe (place + 1 + length).storeBytes(of: 0x22, as: UInt8.self)
            unsafe (place + 2 + length).storeBytes(of: 0x3A, as: UInt8.self)
            unsafe (place + 3 + length).copyMemory(from: opening.utf8Start, byteCount: openingLength)
        }
        count = start &+ length &+ openingLength &+ 3
    }
    /// Appends a copy of text that this buffer already holds.
    mutating func putAgain(_ place: Range<Int>) {
        let start = count
        require(place.count)
        unsafe storage.withUnsafeMutableBytes { room in
            precondition(place.lowerBound >= 0 && place.upperBound <= start)
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: room[start...])
            unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: room[place]))
        }
        count = start &+ place.count
    }
    package mutating func put(bytes more: [UInt8]) {
        unsafe more.withUnsafeBufferPointer { unsafe copy($0) }
    }
    package mutating func put(_ other: TextBuffer) {
        unsafe other.storage.withUnsafeBufferPointer { unsafe copy(UnsafeBufferPointer(rebasing: $0[..<other.count])) }
    }

    /// Returns the decimal digit count. Most numbers are small, so comparisons are cheaper than divisions.
    @inline(__always)
    private static func digitCount(_ value: UInt64) -> Int {
        if value < 10 { return 1 }
        if value < 100 { return 2 }
        if value < 1_000 { return 3 }
        if value < 10_000 { return 4 }
        if value < 100_000 { return 5 }
        var (digits, rest) = (6, value / 100_000)
        while rest >= 10 { (digits, rest) = (digits &+ 1, rest / 10) }
        return digits
    }

    /// Appends a decimal number, padded on the left to `width` with `padding`.
    package mutating func decimal(_ value: UInt64, width: Int = 0, padding: UInt8 = 0x20) {
        let digits = Self.digitCount(value)
        let byteCount = max(digits, width)
        require(byteCount)
        let start = count
        count &+= byteCount
        var at = count
        var room = storage.mutableSpan
        var rest = value
        // Write two digits per division, so that half as many divisions are needed.
        while rest >= 100 {
            let pair = UInt8(truncatingIfNeeded: rest % 100)
            rest /= 100
            at &-= 2
            room[at] = 0x30 | pair / 10
            room[at &+ 1] = 0x30 | pair % 10
        }
        let pair = UInt8(truncatingIfNeeded: rest)
        at &-= 1
        room[at] = 0x30 | pair % 10
        if pair >= 10 {
            at &-= 1
            room[at] = 0x30 | pair / 10
        }
        while at > start {
            at &-= 1
            room[at] = padding
        }
    }
    @inline(__always)
    package mutating func decimal<T: BinaryInteger>(_ value: T, width: Int = 0, padding: UInt8 = 0x20) {
        if value < 0 {
            put(byte: 0x2D)
            decimal(UInt64(value.magnitude), width: width - 1, padding: padding)
        } else {
            decimal(UInt64(value), width: width, padding: padding)
        }
    }

    /// Appends at least `width` lower-case hexadecimal digits, without `0x`.
    package mutating func hex<T: BinaryInteger & UnsignedInteger>(_ value: T, width: Int = 1) {
        var rest = UInt64(value)
        let byteCount = max(width, (67 - rest.leadingZeroBitCount) / 4, 1)
        require(byteCount)
        let start = count
        count &+= byteCount
        var at = count
        var room = storage.mutableSpan
        while at > start {
            at &-= 1
            room[at] = Self.digit(UInt8(truncatingIfNeeded: rest & 15))
            rest >>= 4
        }
    }
    @inline(__always)
    static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

    /// Appends a hardware address, with colons.
    package mutating func mac(_ bits: UInt64) {
        require(17)
        var at = count
        var room = storage.mutableSpan
        var shift: UInt64 = 48
        while shift > 0 {
            shift &-= 8
            let byte = UInt8(truncatingIfNeeded: bits >> shift)
            room[at] = Self.digit(byte >> 4)
            room[at &+ 1] = Self.digit(byte & 15)
            if shift > 0 { room[at &+ 2] = 0x3A }
            at &+= 3
        }
        count &+= 17
    }

    package mutating func ipv4(_ bits: UInt32) {
        // Capacity for the longest IPv4 address.
        require(15)
        var at = count
        var room = storage.mutableSpan
        var shift: UInt32 = 32
        while shift > 0 {
            shift &-= 8
            let byte = UInt8(truncatingIfNeeded: bits >> shift)
            if byte >= 100 {
                room[at] = 0x30 | byte / 100
                at &+= 1
            }
            if byte >= 10 {
                room[at] = 0x30 | byte / 10 % 10
                at &+= 1
            }
            room[at] = 0x30 | byte % 10
            at &+= 1
            guard shift > 0 else { break }
            room[at] = 0x2E
            at &+= 1
        }
        count = at
    }

    /// Appends an IPv6 address in the recommended form (RFC 5952 §4), with a dotted quad if it embeds IPv4.
    package mutating func ipv6(high: UInt64, low: UInt64) {
        let zeros = Self.longestZeros(high, low)
        if zeros.lowerBound == 0, zeros.count == 6 || (zeros.count == 5 && low >> 32 == 0xFFFF) {
            put(zeros.count == 6 ? "::" : "::ffff:")
            return ipv4(UInt32(truncatingIfNeeded: low))
        }
        var position = 0
        while position < 8 {
            if position == zeros.lowerBound, !zeros.isEmpty {
                put("::")
                position = zeros.upperBound
                continue
            }
            if position > 0, position != zeros.upperBound || zeros.isEmpty { put(byte: 0x3A) }
            hex(Self.group(high, low, position))
            position += 1
        }
    }

    private static func group(_ high: UInt64, _ low: UInt64, _ position: Int) -> UInt16 {
        UInt16(truncatingIfNeeded: (position < 4 ? high : low) >> UInt64(48 - 16 * (position & 3)))
    }

    private static func longestZeros(_ high: UInt64, _ low: UInt64) -> Range<Int> {
        var longest = 0..<0
        var start = 0
        for position in 0..<8 {
            if group(high, low, position) != 0 {
                start = position + 1
            } else if position + 1 - start > longest.count {
                longest = start..<position + 1
            }
        }
        return longest.count >= 2 ? longest : 0..<0
    }
}
