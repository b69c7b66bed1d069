/// Encodes pcapng files. The caller stores the appended bytes.
///
/// Blocks from ``PcapngBlock/readAll(_:into:)`` are written back unchanged. A new file starts with ``begin(_:snapLength:name:filter:to:)``.
public struct PcapngWriter: Sendable {
    /// The next section's byte order.
    public var isBigEndian: Bool

    /// Creates a writer. The first section has the given byte order.
    public init(isBigEndian: Bool = false) { self.isBigEndian = isBigEndian }

    /// Appends a section and one interface with nanosecond timestamps.
    public func begin(
        _ linkType: LinkType, snapLength: UInt32 = 262_144, name: String? = nil, filter: String? = nil,
        to output: inout [UInt8]
    ) {
        append(
            PcapngBlock(
                .section(major: 1, minor: 0, length: -1), options: [.init(code: 4, value: Array("nw".utf8))]),
            to: &output)
        var options: [PcapngBlock.Option] = []
        if let name { options.append(.init(code: 2, value: Array(name.utf8))) }
        options.append(.init(code: 9, value: [9]))
        // The option's value begins with a 0 byte: this byte states that a filter string in libpcap's language follows.
        if let filter { options.append(.init(code: 11, value: [0] + Array(filter.utf8))) }
        append(
            PcapngBlock(.interface(linkType: linkType, reserved: 0, snapLength: snapLength), options: options),
            to: &output)
    }

    /// Appends a packet from the interface that ``begin(_:snapLength:name:filter:to:)`` described.
    public func append(
        _ packet: CapturedPacket, _ bytes: borrowing ByteView, comment: String? = nil, to output: inout [UInt8]
    ) {
        let stamp = UInt64(truncatingIfNeeded: packet.time.seconds) &* 1_000_000_000 &+ packet.time.nanoseconds
        let block = PcapngBlock(
            .packet(
                interface: UInt32(truncatingIfNeeded: packet.interface), stamp: stamp,
                originalCount: UInt32(truncatingIfNeeded: packet.originalCount), data: bytes.array),
            options: comment.map { [.comment($0)] } ?? [])
        append(block, to: &output)
    }

    /// Appends a block in the writer's byte order.
    public func append(_ block: PcapngBlock, to output: inout [UInt8]) {
        let start = output.count
        let type: UInt32 =
            switch block.content {
            case .section: 0x0A0D_0D0A
            case .interface: 1
            case .obsoletePacket: 2
            case .simplePacket: 3
            case .nameResolution: 4
            case .interfaceStatistics: 5
            case .packet: 6
            case .other(let type, _): type
            }
        put(type, to: &output)
        put(0 as UInt32, to: &output)
        put(block.content, to: &output)
        for option in block.options {
            put(option.code, to: &output)
            put(UInt16(truncatingIfNeeded: option.value.count), to: &output)
            putPadded(option.value, to: &output)
        }
        if block.endsOptions { put(0 as UInt32, to: &output) }
        output.append(contentsOf: block.rest)
        let length = UInt32(truncatingIfNeeded: output.count + 4 - start)
        put(length, to: &output)
        var bytes: [UInt8] = []
        put(length, to: &bytes)
        output.replaceSubrange(start + 4..<start + 8, with: bytes)
    }

    private func put(_ content: PcapngBlock.Content, to output: inout [UInt8]) {
        switch content {
        case .section(let major, let minor, let length):
            put(0x1A2B_3C4D as UInt32, to: &output)
            put(major, to: &output)
            put(minor, to: &output)
            put(UInt64(bitPattern: length), to: &output)
        case .interface(let linkType, let reserved, let snapLength):
            put(linkType.rawValue, to: &output)
            put(reserved, to: &output)
            put(snapLength, to: &output)
        case .packet(let interface, let stamp, let original, let data):
            put(interface, to: &output)
            putPacket(stamp, original, data, to: &output)
        case .obsoletePacket(let interface, let drops, let stamp, let original, let data):
            put(interface, to: &output)
            put(drops, to: &output)
            putPacket(stamp, original, data, to: &output)
        case .simplePacket(let original, let data):
            put(original, to: &output)
            putPadded(data, to: &output)
        case .nameResolution(let records):
            for record in records {
                put(record.type, to: &output)
                put(UInt16(truncatingIfNeeded: record.value.count), to: &output)
                putPadded(record.value, to: &output)
            }
            put(0 as UInt32, to: &output)
        case .interfaceStatistics(let interface, let stamp):
            put(interface, to: &output)
            put(UInt32(truncatingIfNeeded: stamp >> 32), to: &output)
            put(UInt32(truncatingIfNeeded: stamp), to: &output)
        case .other(_, let body):
            output.append(contentsOf: body)
        }
    }

    private func putPacket(_ stamp: UInt64, _ original: UInt32, _ data: [UInt8], to output: inout [UInt8]) {
        put(UInt32(truncatingIfNeeded: stamp >> 32), to: &output)
        put(UInt32(truncatingIfNeeded: stamp), to: &output)
        put(UInt32(truncatingIfNeeded: data.count), to: &output)
        put(original, to: &output)
        putPadded(data, to: &output)
    }

    private func putPadded(_ bytes: [UInt8], to output: inout [UInt8]) {
        output.append(contentsOf: bytes)
        output.append(contentsOf: repeatElement(0, count: (4 - bytes.count % 4) % 4))
    }

    private func put<T: FixedWidthInteger>(_ value: T, to output: inout [UInt8]) {
        unsafe withUnsafeBytes(of: isBigEndian ? value.bigEndian : value.littleEndian) { bytes in
            unsafe output.append(contentsOf: bytes)
        }
    }
}
