/// Puts the bytes of one direction of a TCP connection in order (RFC 9293 §3.10).
///
/// Segments come in any order, twice, and overlapping; what came first counts. What waits for a gap to be filled is bounded by ``roomLimit``:
/// beyond it the gap is given up, and its size told.
public struct StreamAssembler: Sendable {
    /// Bytes that wait behind a gap, at most.
    public static let roomLimit = 1 << 20

    /// What became known by a segment.
    public struct Progress: Hashable, Sendable {
        /// Bytes that were lost before these.
        public var skipped = 0
        /// The next bytes of the stream.
        public var bytes: [UInt8] = []
        /// The sender has no more, or gave up.
        public var isFinished = false
    }

    private var next: UInt32?
    private var pending: [(start: UInt32, bytes: [UInt8])] = []
    private var end: UInt32?
    private var isOver = false

    public init() {}

    /// Bytes that wait for a gap to be filled.
    public var pendingCount: Int { pending.reduce(0) { $0 + $1.bytes.count } }

    /// Takes a segment.
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
        // A capture that begins in the middle: the first bytes that are seen are the first there are.
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

    /// How far `a` lies behind `b` in the circle of sequence numbers.
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
