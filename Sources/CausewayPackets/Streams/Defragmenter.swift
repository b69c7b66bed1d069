/// Reassembles IP fragments (RFC 791 §3.2, RFC 8200 §4.5).
///
/// Reads no clock: the caller passes each packet's time. Memory is limited by ``datagramLimit`` and ``lifetime``. A
/// datagram with overlapping fragments, or with fragments beyond its end, is dropped, because attackers use them to
/// evade filters (RFC 5722 §4).
public struct Defragmenter: Sendable {
    /// Maximum number of incomplete datagrams. At this limit, a new datagram replaces the oldest one.
    public static let datagramLimit = 256
    /// Maximum datagram size in bytes.
    public static let largestDatagram = 65_535
    /// Maximum time to wait for missing fragments, in seconds.
    public static let lifetime: Int64 = 30

    struct Key: Hashable, Sendable {
        var source: [UInt8]
        var destination: [UInt8]
        var identification: UInt32
        var proto: UInt8
    }
    struct Waiting: Sendable {
        var since: Int64
        /// The header of the fragment that comes first in the datagram.
        var header: [UInt8]?
        var parts: [(range: Range<Int>, bytes: [UInt8])] = []
        var total: Int?
        var isPoisoned = false

        /// Returns whether a fragment and earlier fragments disagree about the datagram's end.
        ///
        /// They disagree if the fragment extends beyond the end, or if it is the last fragment but ends elsewhere.
        func contradicts(_ range: Range<Int>, isLast: Bool) -> Bool {
            guard !isLast else {
                return total.map { $0 != range.upperBound } ?? false
                    || parts.contains { $0.range.upperBound > range.upperBound }
            }
            return total.map { $0 < range.upperBound } ?? false
        }
    }

    private var waiting: [Key: Waiting] = [:]

    /// Creates a defragmenter without datagrams.
    public init() {}

    /// The number of incomplete datagrams.
    public var count: Int { waiting.count }

    /// Adds a packet that begins with an IP header.
    ///
    /// - Returns: The packet itself if it is not a fragment, the complete datagram if no fragment is missing any more,
    ///   otherwise `nil`.
    public mutating func add(_ packet: borrowing ByteView, at seconds: Int64) -> [UInt8]? {
        waiting = waiting.filter { !Self.isTooOld($0.value.since, at: seconds) }
        let layers = PacketLayers(packet, linkType: .raw)
        guard layers.count > 0 else { return packet.array }
        let network = layers[0]
        do throws(WireError) {
            if network.kind == .ipv4 { return try add4(packet, Int(network.byteCount), seconds) }
            guard let fragment = layers.first(.fragment) else { return packet.array }
            return try add6(packet, Int(fragment.offset), seconds)
        } catch {
            return nil
        }
    }

    /// Returns whether more than ``lifetime`` has passed since `since`. A capture file can contain any times, so the
    /// subtraction may overflow.
    private static func isTooOld(_ since: Int64, at now: Int64) -> Bool {
        let (age, overflows) = now.subtractingReportingOverflow(since)
        return overflows ? now > since : age > lifetime
    }

    private mutating func add4(_ p: borrowing ByteView, _ headerLength: Int, _ now: Int64) throws(WireError) -> [UInt8]?
    {
        let field = try p.u16(6)
        guard field & 0x3FFF != 0 else { return p.array }
        let total = Int(try p.u16(2))
        let key = Key(
            source: p.clamped(12, 16).array, destination: p.clamped(16, 20).array,
            identification: UInt32(try p.u16(4)), proto: try p.u8(9))
        try p.require(total, at: 0)
        // Drop a packet if its total length is less than its header length.
        guard headerLength >= 20, total >= headerLength else { return nil }
        let offset = Int(field & 0x1FFF) * 8
        guard
            var whole = insert(
                key, p.clamped(headerLength, total).array, offset, field & 0x2000 != 0,
                offset == 0 ? p.prefix(headerLength).array : nil, now)
        else { return nil }
        whole[2] = UInt8(whole.count >> 8 & 255)
        whole[3] = UInt8(whole.count & 255)
        (whole[6], whole[7], whole[10], whole[11]) = (0, 0, 0, 0)
        let length = Int(whole[0] & 15) * 4
        let sum = InternetChecksum.of(ByteView(whole.span).prefix(length))
        (whole[10], whole[11]) = (UInt8(sum >> 8), UInt8(sum & 255))
        return whole
    }

    private mutating func add6(_ p: borrowing ByteView, _ at: Int, _ now: Int64) throws(WireError) -> [UInt8]? {
        let field = try p.u16(at + 2)
        let end = 40 + Int(try p.u16(4))
        try p.require(end, at: 0)
        guard at >= 40, end >= at + 8 else { return nil }
        let key = Key(
            source: p.clamped(8, 24).array, destination: p.clamped(24, 40).array, identification: try p.u32(at + 4),
            proto: try p.u8(at))
        let offset = Int(field & 0xFFF8)
        var header = p.prefix(at).array
        // Remove the fragment header. The header before it gets the fragment header's next-header value.
        if let place = Self.nextHeaderPlace(p, before: at) { header[place] = try p.u8(at) }
        let content = p.clamped(at + 8, end).array
        // If one fragment is both the first and the last, it is a complete packet. It is independent of all other
        // fragments (RFC 6946 §4).
        let isAtomic = offset == 0 && field & 1 == 0
        let complete: [UInt8]? =
            isAtomic
            ? header + content : insert(key, content, offset, field & 1 != 0, offset == 0 ? header : nil, now)
        guard var whole = complete else { return nil }
        let length = whole.count - 40
        (whole[4], whole[5]) = (UInt8(length >> 8 & 255), UInt8(length & 255))
        return whole
    }

    private static func nextHeaderPlace(_ p: borrowing ByteView, before at: Int) -> Int? {
        var (place, offset) = (6, 40)
        while offset < at {
            place = offset
            guard let length = try? p.u8(offset + 1) else { return nil }
            offset += (Int(length) + 1) * 8
        }
        return offset == at ? place : nil
    }

    /// Adds a fragment. Returns the header and the complete payload if no fragment is missing.
    private mutating func insert(
        _ key: Key, _ bytes: [UInt8], _ offset: Int, _ hasMore: Bool, _ header: [UInt8]?, _ now: Int64
    ) -> [UInt8]? {
        var entry = waiting[key] ?? Waiting(since: now)
        let range = offset..<offset + bytes.count
        let overlaps = entry.parts.contains { $0.range.overlaps(range) && !($0.range == range && $0.bytes == bytes) }
        let isOdd = hasMore && (bytes.isEmpty || bytes.count % 8 != 0)
        let isWrong = overlaps || isOdd || entry.contradicts(range, isLast: !hasMore)
        if isWrong || range.upperBound > Self.largestDatagram { entry.isPoisoned = true }
        if entry.isPoisoned {
            entry.parts = []
            keep(entry, key)
            return nil
        }
        if !entry.parts.contains(where: { $0.range == range }) { entry.parts.append((range, bytes)) }
        if let header { entry.header = header }
        if !hasMore { entry.total = range.upperBound }
        if let whole = Self.whole(entry) {
            waiting[key] = nil
            return whole
        }
        keep(entry, key)
        return nil
    }

    private static func whole(_ entry: Waiting) -> [UInt8]? {
        guard let total = entry.total, let header = entry.header,
            entry.parts.reduce(0, { $0 + $1.range.count }) == total
        else { return nil }
        var result = header
        for part in entry.parts.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) { result += part.bytes }
        return result.count <= largestDatagram ? result : nil
    }

    /// Stores an incomplete datagram until its missing fragments arrive. If ``datagramLimit`` datagrams are stored
    /// already, a new datagram replaces the oldest one.
    private mutating func keep(_ entry: Waiting, _ key: Key) {
        if waiting[key] == nil, waiting.count >= Self.datagramLimit,
            let oldest = waiting.min(by: { $0.value.since < $1.value.since })
        {
            waiting[oldest.key] = nil
        }
        waiting[key] = entry
    }
}
