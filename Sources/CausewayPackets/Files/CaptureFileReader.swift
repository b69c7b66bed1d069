/// Reads capture files: pcap in either byte order with microseconds or nanoseconds, the modified pcap form, and pcapng.
///
/// The reader does no I/O: the caller feeds bytes in portions of any size and takes packets. The reader holds at most
/// one portion and one packet. A compressed file is rejected with an error that names the compression program.
///
/// ```swift
/// var reader = CaptureFileReader()
/// reader.feed(portion)
/// while let packet = try reader.next() { use(packet, reader.bytes) }
/// ```
public struct CaptureFileReader: Sendable {
    /// The maximum packet size in bytes, as in tcpdump. A file with a larger packet is treated as damaged.
    public static let largestPacket = 262_144

    enum Format: Sendable {
        case unknown
        case pcap(PcapHeader)
        case pcapng
        case failed(CaptureFileError)
    }

    var buffer: [UInt8] = []
    /// The number of buffer bytes already read.
    var position = 0
    /// The file offset at which the buffer's content begins, in bytes.
    private var base = 0
    private var isFinished = false
    var format = Format.unknown
    var section = PcapngSection()
    private var packet: Range<Int> = 0..<0

    /// Creates a reader for a new file.
    public init() {}

    /// Adds the file's next bytes.
    public mutating func feed(_ portion: borrowing ByteView) {
        dropUsed()
        let count = portion.count
        buffer.reserveCapacity(buffer.count + count)
        unsafe portion.rawSpan.withUnsafeBytes { bytes in unsafe buffer.append(contentsOf: bytes) }
    }

    /// Adds the file's next bytes.
    public mutating func feed(_ portion: [UInt8]) { feed(ByteView(portion.span)) }

    /// Marks the end of the file.
    public mutating func finish() { isFinished = true }

    private mutating func dropUsed() {
        guard position > 0 else { return }
        buffer.removeSubrange(..<position)
        base += position
        position = 0
        packet = 0..<0
    }

    /// The bytes of the packet that the latest ``next()`` returned.
    public var bytes: ByteView {
        @_lifetime(borrow self) get { ByteView(buffer.span).clamped(packet) }
    }

    /// The file offset of the next byte to read.
    var fileOffset: Int { base + position }

    /// The link type; `nil` until it is known. A pcap file has one link type. In a pcapng file, each interface has its
    /// own, and this is the link type of the latest interface.
    public var linkType: LinkType? {
        switch format {
        case .pcap(let header): header.linkType
        case .pcapng: section.interfaces.last?.linkType
        case .unknown, .failed: nil
        }
    }

    /// The maximum number of bytes captured per packet (snap length); `nil` until it is known.
    public var snapLength: Int? {
        switch format {
        case .pcap(let header): header.snapLength
        case .pcapng: section.interfaces.last.map { Int($0.snapLength) }
        case .unknown, .failed: nil
        }
    }

    /// Returns the next packet, or `nil` if the reader needs more bytes or the file has ended.
    ///
    /// - Throws: ``CaptureFileError``. Every later call throws the same error.
    public mutating func next() throws(CaptureFileError) -> CapturedPacket? {
        packet = 0..<0
        do throws(CaptureFileError) {
            let found = try advance()
            guard let found else {
                guard isFinished, position < buffer.count else { return nil }
                throw .truncated(offset: fileOffset)
            }
            packet = found.range
            return found.packet
        } catch {
            format = .failed(error)
            throw error
        }
    }

    struct Found {
        var packet: CapturedPacket
        var range: Range<Int>
    }

    private mutating func advance() throws(CaptureFileError) -> Found? {
        switch format {
        case .failed(let error): throw error
        case .pcap(let header): return try nextPcap(header)
        case .pcapng: return try nextPcapng()
        case .unknown:
            guard try recognize() else { return nil }
            return try advance()
        }
    }

    private mutating func recognize() throws(CaptureFileError) -> Bool {
        guard let magic = word(at: position) else {
            if isFinished { throw .notACapture }
            return false
        }
        if magic == 0x0A0D_0D0A {
            format = .pcapng
            return true
        }
        if let program = Self.compressor(magic) { throw .compressed(program) }
        guard let kind = PcapHeader.Kind(magic: magic) else { throw .notACapture }
        guard buffer.count - position >= PcapHeader.byteCount else {
            if isFinished { throw .truncated(offset: 0) }
            return false
        }
        format = .pcap(PcapHeader(kind, self))
        position += PcapHeader.byteCount
        return true
    }

    /// Returns the compression program whose files begin with these bytes, or `nil`.
    private static func compressor(_ magic: UInt32) -> String? {
        if magic & 0xFFFF == 0x8B1F { return "gzip" }
        if magic & 0xFF_FFFF == 0x68_5A42 { return "bzip2" }
        switch magic {
        case 0x587A_37FD: return "xz"
        case 0xFD2F_B528: return "zstd"
        case 0x184D_2204: return "lz4"
        default: return nil
        }
    }

    /// Reads a little-endian 32-bit word.
    func word(at offset: Int) -> UInt32? {
        guard offset >= 0, offset + 4 <= buffer.count else { return nil }
        return unsafe buffer.span.bytes.unsafeLoadUnaligned(
            fromUncheckedByteOffset: offset, as: UInt32.self
        ).littleEndian
    }
}
