/// Reassembles one direction of a TCP connection (RFC 9293 §3.10).
///
/// Segments may arrive in any order. They may be repeated, and they may overlap; the first copy of a byte is kept.
///
/// Data after a gap is held back until the gap is filled. ``roomLimit`` and ``pieceLimit`` limit this data. When it
/// exceeds a limit, the gap is skipped, and the size of the gap is reported.
public struct StreamAssembler: Sendable {
    /// Maximum number of bytes held back behind a gap.
    public static let roomLimit = 1 << 20
    /// Maximum number of separate pieces that are held back because earlier bytes are missing.
    public static let pieceLimit = 4096

    /// The result of adding a TCP segment to the stream.
    public struct Progress: Hashable, Sendable {
        /// The number of bytes missing from the stream before ``bytes``.
        public var skipped = 0
        /// The bytes that follow in the stream.
        public var bytes: [UInt8] = []
        /// Whether the stream has ended, because the sender closed or reset it.
        public var isFinished = false
    }

    private struct Piece {
        let start: UInt32
        let bytes: [UInt8]

        var end: UInt32 { start &+ UInt32(truncatingIfNeeded: bytes.count) }
    }

    private var next: UInt32?
    /// The pieces that arrived after a gap in the stream, in stream order. They do not overlap.
    private var pending: [Piece] = []
    private var end: UInt32?
    private var isOver = false

    /// Creates an assembler for one direction.
    public init() {}

    /// The number of bytes held back behind a gap.
    public private(set) var pendingCount = 0

    /// Adds a TCP segment to the stream.
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
        // If the capture starts in the middle of a connection, there is no SYN. The stream then begins with the first
        // captured byte.
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

    /// Keeps a segment's new bytes: those after `next` that no earlier segment had.
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
            // The existing piece already contains the next bytes of the new piece. Skip them, and continue after the
            // existing piece.
            let known = Self.distance(pending[index].end, place)
            rest = rest.dropFirst(known)
            place &+= UInt32(truncatingIfNeeded: known)
            index += 1
        }
    }

    /// Returns the index of the first piece that contains bytes at or after the sequence number `place`. Returns the
    /// number of pieces if there is no such piece.
    private func indexOfFirst(endingAfter place: UInt32) -> Int {
        var (low, high) = (0, pending.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.distance(pending[middle].end, place) > 0 { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Delivers the stored pieces that directly continue the data delivered so far.
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
