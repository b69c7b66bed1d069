/// Reassembles one direction of a TCP connection (RFC 9293 §3.10).
///
/// Segments may arrive in any order, repeated and overlapping; the first copy of a byte is kept. The bytes after a gap are limited by
/// ``roomLimit``: if more bytes wait, the gap is skipped and its size is reported.
public struct StreamAssembler: Sendable {
    /// Maximum number of bytes held back behind a gap.
    public static let roomLimit = 1 << 20

    /// The result of adding a segment.
    public struct Progress: Hashable, Sendable {
        /// The number of bytes lost before ``bytes``.
        public var skipped = 0
        /// The stream's next bytes.
        public var bytes: [UInt8] = []
        /// Whether the sender closed or reset the stream.
        public var isFinished = false
    }

    private var next: UInt32?
    private var pending: [(start: UInt32, bytes: [UInt8])] = []
    private var end: UInt32?
    private var isOver = false

    /// Creates an assembler for one direction.
    public init() {}

    /// The number of bytes held back behind a gap.
    public var pendingCount: Int { pending.reduce(0) { $0 + $1.bytes.count } }

    /// Adds a segment.
    public mutating func add(_ header: TCPHeader, _ payload: borrowing ByteView) -> Progress {
        var progress = Progress()
        guard !isOver else { return progress }
        if header.flags.contains(.rst) {
            isOver = true
            progress.isFinished = true
            return progress
        }
        var start = header.sequence
        if header.flags.contains(.syn) {
            start &+= 1
            if next == nil { next = start }
        }
        // If the capture starts inside a connection, the stream begins with the first captured byte.
        if next == nil, payload.count > 0 || header.flags.contains(.fin) { next = start }
        if header.flags.contains(.fin) { end = start &+ UInt32(truncatingIfNeeded: payload.count) }
        if payload.count > 0, let next, Self.distance(start, next) > -(1 << 30), Self.distance(start, next) < 1 << 30 {
            pending.append((start, payload.array))
        }
        deliver(&progress)
        if pendingCount > Self.roomLimit { skip(&progress) }
        if let end, next == end {
            isOver = true
            progress.isFinished = true
        }
        return progress
    }

    /// Returns the signed distance from `b` to `a` in sequence number space.
    private static func distance(_ a: UInt32, _ b: UInt32) -> Int { Int(Int32(bitPattern: a &- b)) }

    private mutating func deliver(_ progress: inout Progress) {
        guard var place = next else { return }
        var found = true
        while found {
            found = false
            for index in pending.indices.reversed() where Self.distance(pending[index].start, place) <= 0 {
                let known = -Self.distance(pending[index].start, place)
                let bytes = pending.remove(at: index).bytes
                guard known < bytes.count else { continue }
                progress.bytes += bytes[known...]
                place &+= UInt32(bytes.count - known)
                found = true
            }
        }
        next = place
    }

    private mutating func skip(_ progress: inout Progress) {
        guard let place = next, let first = pending.map({ Self.distance($0.start, place) }).min(), first > 0 else {
            return
        }
        progress.skipped += first
        next = place &+ UInt32(first)
        deliver(&progress)
    }
}
