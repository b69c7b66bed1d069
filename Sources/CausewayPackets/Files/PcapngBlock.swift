/// One complete block in a pcapng file. Reading and writing it again yields identical bytes.
public struct PcapngBlock: Hashable, Sendable {
    /// A block's content, by block type.
    public enum Content: Hashable, Sendable {
        /// The start of a section, with its own byte order and interfaces. `length` is -1 if the file does not state
        /// it.
        case section(major: UInt16, minor: UInt16, length: Int64)
        /// One interface in the section. `snapLength` is in bytes; 0 means no limit.
        case interface(linkType: LinkType, reserved: UInt16, snapLength: UInt32)
        /// A packet, its interface and its timestamp in that interface's units. `data` has the captured bytes.
        case packet(interface: UInt32, stamp: UInt64, originalCount: UInt32, data: [UInt8])
        /// The obsolete form of ``packet(interface:stamp:originalCount:data:)``, with a count of dropped packets.
        case obsoletePacket(interface: UInt16, drops: UInt16, stamp: UInt64, originalCount: UInt32, data: [UInt8])
        /// A packet that was captured on the first interface. The block contains no timestamp.
        case simplePacket(originalCount: UInt32, data: [UInt8])
        /// Addresses with their names.
        case nameResolution(records: [Record])
        /// An interface's statistics. The timestamp is in that interface's units, and the counters are block options.
        case interfaceStatistics(interface: UInt32, stamp: UInt64)
        /// A block with another type. `body` includes its options.
        case other(type: UInt32, body: [UInt8])
    }

    /// A name resolution record: the value is an address followed by names, each terminated by a zero byte.
    public struct Record: Hashable, Sendable {
        /// The address kind: 1 is IPv4, 2 is IPv6.
        public var type: UInt16
        /// The address, followed by the names for it.
        public var value: [UInt8]
        /// Creates a record.
        public init(type: UInt16, value: [UInt8]) {
            self.type = type
            self.value = value
        }
    }

    /// A block option.
    public struct Option: Hashable, Sendable {
        /// The option code. The code 1 means a comment in every type of block.
        public var code: UInt16
        /// The value, without padding.
        public var value: [UInt8]
        /// Creates an option.
        public init(code: UInt16, value: [UInt8]) {
            self.code = code
            self.value = value
        }
        /// Creates a comment.
        public static func comment(_ text: String) -> Option { Option(code: 1, value: Array(text.utf8)) }
    }

    /// The block's content.
    public var content: Content
    /// The block's options.
    public var options: [Option]
    /// Whether an end-of-options mark follows the options. The mark is optional.
    public var endsOptions: Bool
    /// The bytes after the block's content and options, kept so that the block can be written back unchanged.
    var rest: [UInt8] = []

    /// Creates a block. An end-of-options mark follows the options, if there are any.
    public init(_ content: Content, options: [Option] = []) {
        self.content = content
        self.options = options
        endsOptions = !options.isEmpty
    }

    /// All comment texts.
    public var comments: [String] {
        options.filter { $0.code == 1 }.map { String(decoding: $0.value, as: UTF8.self) }
    }
}

extension PcapngBlock {
    /// Reads all blocks in a file.
    ///
    /// - Throws: ``CaptureFileError`` if the file is damaged. `blocks` then contains the blocks before the damage.
    public static func readAll(_ file: [UInt8], into blocks: inout [PcapngBlock]) throws(CaptureFileError) {
        var isBigEndian = false
        var offset = 0
        while offset < file.count {
            guard file.count - offset >= 12 else { throw .truncated(offset: offset) }
            var cursor = PcapngCursor(file, offset, file.count, isBigEndian)
            let rawType = cursor.u32()
            if rawType == 0x0A0D_0D0A {
                isBigEndian = file[offset + 8] == 0x1A
                cursor.isBigEndian = isBigEndian
            } else if offset == 0 {
                throw .notACapture
            }
            let length = Int(cursor.u32())
            guard length >= 12, length % 4 == 0 else { throw .malformed("a block of \(length) bytes", offset: offset) }
            guard length <= file.count - offset else { throw .truncated(offset: offset) }
            cursor.end = offset + length - 4
            blocks.append(PcapngBlock(rawType, &cursor))
            offset += length
        }
    }

    private init(_ type: UInt32, _ cursor: inout PcapngCursor) {
        let start = cursor.offset
        let known: Bool
        if let content = Self.content(type, &cursor) {
            self.init(content)
            known = true
        } else {
            cursor.offset = start
            self.init(.other(type: type, body: cursor.take(cursor.end - start)))
            known = false
        }
        guard known else { return }
        while cursor.end - cursor.offset >= 4 {
            let mark = cursor.offset
            let code = cursor.u16()
            let count = Int(cursor.u16())
            if code == 0, count == 0 {
                endsOptions = true
                break
            }
            guard let value = cursor.padded(count) else {
                cursor.offset = mark
                break
            }
            options.append(Option(code: code, value: value))
        }
        rest = cursor.take(cursor.end - cursor.offset)
    }

    private static func content(_ type: UInt32, _ cursor: inout PcapngCursor) -> Content? {
        let room = cursor.end - cursor.offset
        switch type {
        case 0x0A0D_0D0A where room >= 16:
            _ = cursor.u32()
            let (major, minor) = (cursor.u16(), cursor.u16())
            return .section(major: major, minor: minor, length: Int64(bitPattern: cursor.u64()))
        case 1 where room >= 8:
            let (link, reserved) = (cursor.u16(), cursor.u16())
            return .interface(linkType: LinkType(rawValue: link), reserved: reserved, snapLength: cursor.u32())
        case 2 where room >= 20:
            let (interface, drops, stamp) = (cursor.u16(), cursor.u16(), cursor.stamp())
            let (captured, original) = (cursor.u32(), cursor.u32())
            guard let data = cursor.padded(Int(captured)) else { return nil }
            return .obsoletePacket(
                interface: interface, drops: drops, stamp: stamp, originalCount: original, data: data)
        case 3 where room >= 4:
            let original = cursor.u32()
            return .simplePacket(originalCount: original, data: cursor.take(cursor.end - cursor.offset))
        case 4: return records(&cursor).map { .nameResolution(records: $0) }
        case 5 where room >= 12: return .interfaceStatistics(interface: cursor.u32(), stamp: cursor.stamp())
        case 6 where room >= 20:
            let (interface, stamp) = (cursor.u32(), cursor.stamp())
            let (captured, original) = (cursor.u32(), cursor.u32())
            guard let data = cursor.padded(Int(captured)) else { return nil }
            return .packet(interface: interface, stamp: stamp, originalCount: original, data: data)
        default: return nil
        }
    }

    private static func records(_ cursor: inout PcapngCursor) -> [Record]? {
        var records: [Record] = []
        while cursor.end - cursor.offset >= 4 {
            let (type, count) = (cursor.u16(), Int(cursor.u16()))
            if type == 0 { return records }
            guard let value = cursor.padded(count) else { return nil }
            records.append(Record(type: type, value: value))
        }
        return nil
    }
}

/// A position in a pcapng file, with the section's byte order.
struct PcapngCursor {
    let file: [UInt8]
    var offset: Int
    var end: Int
    var isBigEndian: Bool

    init(_ file: [UInt8], _ offset: Int, _ end: Int, _ isBigEndian: Bool) {
        self.file = file
        self.offset = offset
        self.end = end
        self.isBigEndian = isBigEndian
    }

    private mutating func number(_ width: Int) -> UInt64 {
        guard end - offset >= width else { return 0 }
        var value: UInt64 = 0
        for index in 0..<width {
            let byte = UInt64(file[offset + index])
            value = isBigEndian ? value << 8 | byte : value | byte << UInt64(8 * index)
        }
        offset += width
        return value
    }

    mutating func u16() -> UInt16 { UInt16(number(2)) }
    mutating func u32() -> UInt32 { UInt32(number(4)) }
    mutating func u64() -> UInt64 { number(8) }
    /// Reads a timestamp: the upper half comes first in either byte order.
    mutating func stamp() -> UInt64 { UInt64(u32()) << 32 | UInt64(u32()) }

    mutating func take(_ count: Int) -> [UInt8] {
        let taken = Array(file[offset..<offset + min(max(count, 0), end - offset)])
        offset += taken.count
        return taken
    }

    /// Reads bytes that are padded with zeros to a multiple of four; `nil` if they do not fit or the padding is not
    /// zero.
    mutating func padded(_ count: Int) -> [UInt8]? {
        let length = (count + 3) / 4 * 4
        guard length <= end - offset else { return nil }
        guard file[offset + count..<offset + length].allSatisfy({ $0 == 0 }) else { return nil }
        defer { offset += length }
        return Array(file[offset..<offset + count])
    }
}
