/// A pcap file's header.
struct PcapHeader: Sendable {
    static let byteCount = 24

    /// A pcap format variant.
    struct Kind: Sendable {
        var isBigEndian: Bool
        var isNanoseconds: Bool
        /// Packet header length in bytes. The modified form has eight more bytes.
        var packetHeaderByteCount: Int

        /// - Parameter magic: The first four bytes of the file as a number. They are read in little-endian order.
        init?(magic: UInt32) {
            let plain: [(UInt32, Bool, Int)] = [
                (0xA1B2_C3D4, false, 16), (0xA1B2_3C4D, true, 16), (0xA1B2_CD34, false, 24),
            ]
            for (value, nanoseconds, length) in plain {
                guard magic == value || magic == value.byteSwapped else { continue }
                isBigEndian = magic != value
                isNanoseconds = nanoseconds
                packetHeaderByteCount = length
                return
            }
            return nil
        }
    }

    var kind: Kind
    var linkType: LinkType
    var snapLength: Int

    init(_ kind: Kind, _ reader: CaptureFileReader) {
        self.kind = kind
        let swap = { (value: UInt32) in kind.isBigEndian ? value.byteSwapped : value }
        snapLength = Int(swap(reader.word(at: reader.position + 16) ?? 0))
        // The link type field's upper 16 bits can contain the length of the frame check sequence.
        linkType = LinkType(fileValue: swap(reader.word(at: reader.position + 20) ?? 0) & 0xFFFF)
    }
}

extension CaptureFileReader {
    mutating func nextPcap(_ header: PcapHeader) throws(CaptureFileError) -> Found? {
        let length = header.kind.packetHeaderByteCount
        guard buffer.count - position >= length else { return nil }
        let swap = header.kind.isBigEndian
        func field(_ index: Int) -> UInt32 {
            let value = word(at: position + index * 4) ?? 0
            return swap ? value.byteSwapped : value
        }
        let captured = Int(field(2))
        guard captured <= Self.largestPacket else {
            throw .malformed("a packet of \(captured) bytes", offset: fileOffset)
        }
        guard buffer.count - position >= length + captured else { return nil }
        let seconds = Int64(field(0))
        let time =
            header.kind.isNanoseconds
            ? CaptureTime(seconds: seconds, nanoseconds: field(1))
            : CaptureTime(seconds: seconds, microseconds: field(1))
        // Some programs store more bytes of a packet than the snap length allows. In that case, cut the packet to the
        // snap length.
        let kept = header.snapLength > 0 ? min(captured, header.snapLength) : captured
        let packet = CapturedPacket(
            time: time, originalCount: Int(field(3)), capturedCount: kept, linkType: header.linkType)
        let start = position + length
        position = start + captured
        return Found(packet: packet, range: start..<start + kept)
    }
}

/// Encodes pcap files. The caller stores the returned bytes.
public struct PcapWriter: Sendable {
    /// The link type for all packets in the file.
    public let linkType: LinkType
    /// Whether the file has nanoseconds, not microseconds.
    public let isNanoseconds: Bool
    /// Whether the file is big-endian.
    public let isBigEndian: Bool
    /// The snap length in the file's header, in bytes.
    public let snapLength: UInt32

    /// Creates a writer for one file.
    ///
    /// - Parameters:
    ///   - linkType: The link type for all packets.
    ///   - snapLength: The snap length for the file's header, in bytes.
    ///   - isNanoseconds: Whether to store nanoseconds, not microseconds.
    ///   - isBigEndian: Whether to write the most significant byte first. Readers accept both.
    public init(
        linkType: LinkType, snapLength: UInt32 = 262_144, isNanoseconds: Bool = false, isBigEndian: Bool = false
    ) {
        self.linkType = linkType
        self.snapLength = snapLength
        self.isNanoseconds = isNanoseconds
        self.isBigEndian = isBigEndian
    }

    /// Returns the file header.
    public func header() -> [UInt8] {
        var output: [UInt8] = []
        append(isNanoseconds ? 0xA1B2_3C4D : 0xA1B2_C3D4, to: &output)
        append(isBigEndian ? 0x0002_0004 : 0x0004_0002, to: &output)
        append(0, to: &output)
        append(0, to: &output)
        append(snapLength, to: &output)
        append(UInt32(linkType.rawValue), to: &output)
        return output
    }

    /// Appends one packet to `output`.
    public func append(_ packet: CapturedPacket, _ bytes: borrowing ByteView, to output: inout [UInt8]) {
        let same = packet.time.isNanoseconds == isNanoseconds
        let fraction =
            same
            ? packet.time.fraction
            : UInt32(truncatingIfNeeded: isNanoseconds ? packet.time.nanoseconds : packet.time.microseconds)
        // Append the whole header in one step. This is faster than appending each field separately.
        let header = (
            ordered(UInt32(truncatingIfNeeded: packet.time.seconds)), ordered(fraction),
            ordered(UInt32(truncatingIfNeeded: bytes.count)), ordered(UInt32(truncatingIfNeeded: packet.originalCount))
        )
        let byteCount = MemoryLayout.size(ofValue: header) + bytes.count
        unsafe bytes.rawSpan.withUnsafeBytes { bytes in
            output.append(addingCapacity: byteCount) { room in
                unsafe room.withUnsafeMutableBufferPointer { buffer, count in
                    // The write stays in bounds: `append(addingCapacity:)` provides space for `byteCount` bytes. The
                    // tuple with the header fields has no padding.
                    let place = unsafe UnsafeMutableRawBufferPointer(
                        rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
                    unsafe place.storeBytes(of: header, as: (UInt32, UInt32, UInt32, UInt32).self)
                    unsafe UnsafeMutableRawBufferPointer(rebasing: place[16...]).copyMemory(from: bytes)
                    count += byteCount
                }
            }
        }
    }

    @inline(__always)
    private func ordered(_ value: UInt32) -> UInt32 { isBigEndian ? value.bigEndian : value.littleEndian }

    private func append(_ value: UInt32, to output: inout [UInt8]) {
        unsafe withUnsafeBytes(of: ordered(value)) { bytes in
            unsafe output.append(contentsOf: bytes)
        }
    }
}
