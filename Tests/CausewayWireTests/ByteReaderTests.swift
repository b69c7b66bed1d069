import CausewayWire
import Testing

@Suite("Byte reader")
struct ByteReaderTests {
    private static let bytes: [UInt8] = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0xFF]

    @Test("Integers in network byte order")
    func bigEndian() throws {
        var reader = ByteReader(Self.bytes.span)
        #expect(try reader.readInteger(as: UInt16.self) == 0x0102)
        #expect(try reader.readInteger(as: UInt32.self) == 0x0304_0506)
        #expect(try reader.readInteger(as: UInt8.self) == 7)
        #expect(try reader.readInteger(as: Int16.self) == 0x08FF)
        #expect(reader.remaining == 0)
    }

    @Test("Little-endian integers")
    func littleEndian() throws {
        var reader = ByteReader(Self.bytes.span)
        #expect(try reader.readLittleEndian(as: UInt64.self) == 0x0807_0605_0403_0201)
        #expect(try reader.readLittleEndian(as: Int8.self) == -1)
    }

    @Test("Integers in this machine's byte order")
    func hostOrder() throws {
        let bytes = withUnsafeBytes(of: UInt32(0xDEAD_BEEF)) { Array($0) }
        var reader = ByteReader(bytes.span)
        #expect(try reader.readHostInteger(as: UInt32.self) == 0xDEAD_BEEF)
    }

    @Test("Every read of n bytes fails at every shorter length, reports the missing bytes, and consumes nothing")
    func truncation() {
        for available in 0..<8 {
            let bytes = [UInt8](repeating: 0xAA, count: available)
            var reader = ByteReader(bytes.span)
            let expected = WireError.truncated(needed: 8, available: available, at: 0)
            #expect(throws: expected) {
                try Self.attempt(bytes) { (r) throws(WireError) in _ = try r.readInteger(as: UInt64.self) }
            }
            #expect(throws: expected) {
                try Self.attempt(bytes) { (r) throws(WireError) in _ = try r.readLittleEndian(as: UInt64.self) }
            }
            #expect(throws: expected) {
                try Self.attempt(bytes) { (r) throws(WireError) in _ = try r.readHostInteger(as: UInt64.self) }
            }
            #expect(throws: expected) { try Self.attempt(bytes) { (r) throws(WireError) in _ = try r.readBytes(8) } }
            #expect(throws: expected) { try Self.attempt(bytes) { (r) throws(WireError) in _ = try r.readSpan(8) } }
            #expect(throws: expected) { try Self.attempt(bytes) { (r) throws(WireError) in _ = try r.readScope(8) } }
            #expect(throws: expected) { try Self.attempt(bytes) { (r) throws(WireError) in try r.skip(8) } }
            // The failed read must not move the cursor. So a smaller read can still succeed.
            _ = try? reader.skip(8)
            #expect(reader.remaining == available)
        }
    }

    /// Performs one read. If it throws, checks that the reader's position has not changed.
    private static func attempt(
        _ bytes: [UInt8], _ read: (inout ByteReader) throws(WireError) -> Void
    ) throws(WireError) {
        var reader = ByteReader(bytes.span)
        do throws(WireError) {
            try read(&reader)
        } catch {
            #expect(reader.offset == 0)
            throw error
        }
    }

    @Test("Negative counts are refused", arguments: [-1, Int.min])
    func negativeCounts(count: Int) {
        let expected = WireError.invalid("length", at: 0)
        #expect(throws: expected) { try Self.attempt(Self.bytes) { (r) throws(WireError) in try r.skip(count) } }
        #expect(throws: expected) {
            try Self.attempt(Self.bytes) { (r) throws(WireError) in _ = try r.readBytes(count) }
        }
        #expect(throws: expected) {
            try Self.attempt(Self.bytes) { (r) throws(WireError) in _ = try r.readSpan(count) }
        }
    }

    @Test("The largest count does not overflow")
    func hugeCount() {
        #expect(throws: WireError.truncated(needed: .max, available: 9, at: 0)) {
            try Self.attempt(Self.bytes) { (r) throws(WireError) in try r.skip(.max) }
        }
    }

    @Test("A scope limits its reader and keeps outer offsets")
    func scopes() throws {
        var outer = ByteReader(Self.bytes.span)
        try outer.skip(2)
        var inner = try outer.readScope(4)
        #expect(outer.offset == 6)
        try inner.skip(1)
        #expect(inner.position == 3)
        var innermost = try inner.readScope(2)
        #expect(try innermost.readInteger(as: UInt8.self) == 4)
        #expect(throws: WireError.truncated(needed: 4, available: 1, at: 4)) {
            var again = ByteReader(Self.bytes.span)
            try again.skip(2)
            var scope = try again.readScope(4)
            try scope.skip(1)
            var deepest = try scope.readScope(2)
            try deepest.skip(1)
            _ = try deepest.readInteger(as: UInt32.self)
        }
        #expect(inner.remaining == 1)
    }

    @Test("Peeking consumes nothing and stays inside")
    func peeking() throws {
        var reader = ByteReader(Self.bytes.span)
        try reader.skip(7)
        #expect(reader.peek() == 8)
        #expect(reader.peek(at: 1) == 0xFF)
        #expect(reader.peek(at: 2) == nil)
        #expect(reader.peek(at: -1) == nil)
        #expect(reader.offset == 7)
    }

    @Test("Alignment counts from the reader's beginning and stops at its end")
    func alignment() throws {
        var reader = ByteReader(Self.bytes.span)
        reader.align(to: 4)
        #expect(reader.offset == 0)
        try reader.skip(1)
        reader.align(to: 4)
        #expect(reader.offset == 4)
        try reader.skip(5)
        reader.align(to: 4)
        #expect(reader.offset == 9)
    }

    @Test("Copies and borrowed spans contain the same bytes, and the rest may be empty")
    func spans() throws {
        var reader = ByteReader(Self.bytes.span)
        let head = try reader.readSpan(3)
        #expect(head.byteCount == 3)
        #expect(try reader.readBytes(2) == [4, 5])
        let rest = reader.readRest()
        #expect(rest.byteCount == 4)
        let nothing = reader.readRest()
        #expect(nothing.byteCount == 0)
        var again = ByteReader(rest, base: 5)
        #expect(try again.readBytes(4) == [6, 7, 8, 0xFF])
        #expect(again.position == 9)
    }

    @Test("Errors print as sentences")
    func descriptions() {
        #expect(
            "\(WireError.truncated(needed: 4, available: 1, at: 7))" == "truncated at byte 7: 4 needed, 1 available")
        #expect("\(WireError.invalid("prefix length", at: 17))" == "invalid prefix length at byte 17")
    }
}
