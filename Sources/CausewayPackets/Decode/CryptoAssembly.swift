/// Assembles a QUIC connection's first TLS message from CRYPTO frames (RFC 9000 §19.6) in any order.
///
/// Memory is limited by ``messageLimit`` and ``pieceLimit``. If a byte arrives more than once, the first copy is kept.
struct CryptoAssembly: Sendable {
    /// The maximum message size in bytes. A ClientHello with post-quantum keys has about 2,000 bytes.
    static let messageLimit = 16_384
    /// The maximum number of received pieces that are kept apart because bytes between them are missing.
    static let pieceLimit = 64

    private enum Frame {
        static let padding = 0
        static let ping = 1
        static let acknowledgement = 2
        static let acknowledgementCounts = 3
        static let crypto = 6
    }
    private static let headerLength = 4

    private var bytes: [UInt8] = []
    /// The received ranges in `bytes`. They are in ascending order, with gaps between them.
    private var pieces: [Range<Int>] = []

    /// Adds the frames of a QUIC Initial packet. Stops at the first frame of a type that such a packet must not
    /// contain.
    mutating func add(frames p: borrowing ByteView) {
        try? read(p)
    }

    private mutating func read(_ p: borrowing ByteView) throws(WireError) {
        var offset = 0
        while offset < p.count {
            let (type, next) = try p.quicInteger(at: offset)
            offset = next
            switch type {
            case Frame.padding, Frame.ping: break
            case Frame.acknowledgement, Frame.acknowledgementCounts:
                offset = try Self.acknowledgementEnd(p, offset, hasCounts: type == Frame.acknowledgementCounts)
            case Frame.crypto:
                let (start, afterStart) = try p.quicInteger(at: offset)
                let (count, content) = try p.quicInteger(at: afterStart)
                try p.require(count, at: content)
                add(p.clamped(content, content + count), at: start)
                offset = content + count
            default: return
            }
        }
    }

    /// Returns the offset after an ACK frame (RFC 9000 §19.3).
    private static func acknowledgementEnd(
        _ p: borrowing ByteView, _ start: Int, hasCounts: Bool
    ) throws(WireError) -> Int {
        let afterLargest = try p.quicInteger(at: start).next
        let afterDelay = try p.quicInteger(at: afterLargest).next
        var (rangeCount, offset) = try p.quicInteger(at: afterDelay)
        offset = try p.quicInteger(at: offset).next
        while rangeCount > 0 {
            offset = try p.quicInteger(at: try p.quicInteger(at: offset).next).next
            rangeCount -= 1
        }
        guard hasCounts else { return offset }
        for _ in 0..<3 { offset = try p.quicInteger(at: offset).next }
        return offset
    }

    private mutating func add(_ content: borrowing ByteView, at start: Int) {
        guard content.count > 0, start <= Self.messageLimit - content.count else { return }
        let range = start..<start + content.count
        // Find the stored pieces that overlap the new piece or are adjacent to it. They are merged with it.
        let touching = pieces.filter { $0.lowerBound <= range.upperBound && range.lowerBound <= $0.upperBound }
        guard pieces.count - touching.count < Self.pieceLimit else { return }
        if bytes.count < range.upperBound {
            bytes += [UInt8](repeating: 0, count: range.upperBound - bytes.count)
        }
        for index in 0..<content.count where !touching.contains(where: { $0.contains(start + index) }) {
            bytes[start + index] = content[index]
        }
        var whole = range
        for piece in touching {
            whole = min(whole.lowerBound, piece.lowerBound)..<max(whole.upperBound, piece.upperBound)
        }
        pieces.removeAll { whole.contains($0.lowerBound) }
        pieces.insert(whole, at: pieces.firstIndex { $0.lowerBound > whole.lowerBound } ?? pieces.count)
    }

    /// Returns the first message with its header (RFC 8446 §4) and clears the state; `nil` if the message is incomplete.
    mutating func takeMessage() -> [UInt8]? {
        guard let first = pieces.first, first.lowerBound == 0, first.count >= Self.headerLength else { return nil }
        let count = Self.headerLength + (Int(bytes[1]) << 16 | Int(bytes[2]) << 8 | Int(bytes[3]))
        guard count <= first.count else { return nil }
        let message = Array(bytes.prefix(count))
        self = CryptoAssembly()
        return message
    }
}
