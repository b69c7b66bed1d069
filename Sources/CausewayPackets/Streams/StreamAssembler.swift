/// Reassembles one direction of a TCP connection (RFC 9293 §3.10).
///
/// Segments may arrive in any order, repeated and overlapping; the first copy of a byte is kept. The data held back
/// behind a gap is limited by ``roomLimit`` and ``pieceLimit``: above a limit, the gap is skipped and its size is
/// reported.
public struct StreamAssembler: Sendable {
    /// Maximum number of bytes held back behind a gap.
    public static let roomLimit = 1 << 20
    /// Maximum number of separate pieces held back behind gaps.
    public static let pieceLimit = 4096

    /// The result of adding a segment.
    public struct Progress: Hashable, Sendable {
        /// The number of bytes lost before ``bytes``.
        public var skipped = 0
        /// The stream's next bytes.
        public var bytes: [UInt8] = []
        /// Whether the sender closed or reset the stream.
        public var isFinished = false
    }

    private struct Piece {
        let start: UInt32
        let bytes: [UInt8]

        var end: UInt32 { start &+ UInt32(truncatingIfNeeded: bytes.count) }
    }

    private var next: UInt32?
    /// The pieces behind a gap, in the order of the stream. They do not overlap.
    private var pending: [Piece] = []
    private var end: UInt32?
    private var isOver = false

    /// Creates an assembler for one direction.
    public init() {}

    /// The number of bytes held back behind a gap.
    public private(set) var pendingCount = 0

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
        if let next, Self.distance(start, next) > -(1 << 30), Self.distance(start, next) < 1 << 30 {
            if pending.isEmpty, start == next {
                progress.bytes = payload.array
                self.next = start &+ UInt32(truncatingIfNeeded: payload.count)
            } else {
                keep(payload.array[...], at: start, after: next)
            }
        }
        deliver(&progress)
        while pendingCount > Self.roomLimit || pending.count > Self.pieceLimit { skip(&progress) }
        if let end, next == end {
            isOver = true
            progress.isFinished = true
        }
        return progress
    }

    /// Returns the signed distance from `b` to `a` in sequence number space.
    private static func distance(_ a: UInt32, _ b: UInt32) -> Int { Int(Int32(bitPattern: a &- b)) }

    /// Keeps the bytes of a segment that are new: those after `next` that no earlier segment had.
    private mutating func keep(_ bytes: ArraySlice<UInt8>, at start: UInt32, after next: UInt32) {
        var rest = bytes.dropFirst(max(0, -Self.distance(start, next)))
        var place = start &+ UInt32(truncatingIfNeeded: bytes.count - rest.count)
        var index = indexOfFirst(endingAfter: place)
        while !rest.isEmpty {
            let room = index < pending.count ? Self.distance(pending[index].start, place) : rest.count
            let new = rest.prefix(max(0, room))
            if !new.isEmpty {
                pending.insert(Piece(start: place, bytes: Array(new)), at: index)
                pendingCount += new.count
                index += 1
            }
            guard new.count < rest.count else { return }
            // The existing piece already contains the next bytes. Continue after its end.
            let known = Self.distance(pending[index].end, place)
            rest = rest.dropFirst(known)
            place &+= UInt32(truncatingIfNeeded: known)
            index += 1
        }
    }

    /// Returns the index of the first piece that has bytes at or after a sequence number. If there is no such piece,
    /// returns the number of pieces.
    private func indexOfFirst(endingAfter place: UInt32) -> Int {
        var (low, high) = (0, pending.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.distance(pending[middle].end, place) > 0 { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Delivers the pieces that have no gap before them.
    private mutating func deliver(_ progress: inout Progress) {
        var count = 0
        while count < pending.count, pending[count].start == next {
            let piece = pending[count]
            progress.bytes += piece.bytes
            pendingCount -= piece.bytes.count
            next = piece.end
            count += 1
        }
        pending.removeFirst(count)
    }

    private mutating func skip(_ progress: inout Progress) {
        guard let place = next, let first = pending.first else { return }
        progress.skipped += Self.distance(first.start, place)
        next = first.start
        deliver(&progress)
    }
}
