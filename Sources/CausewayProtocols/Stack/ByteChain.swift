internal import DequeModule

/// Bytes in the order they came, kept in the arrays they came in: appending and taking move no bytes, but for small pieces.
///
/// Pieces below ``coalescedLength`` are copied behind the last one, so that a peer who sends byte by byte does not cost an array
/// for each of them.
package struct ByteChain: Sendable {
    /// Bytes from which on a piece is kept as it is.
    package static let coalescedLength = 512
    /// Bytes up to which small pieces are gathered in one array.
    private static let gatheredLength = 4096

    private var pieces = InlineFirstQueue<ArraySlice<UInt8>>()
    package private(set) var count = 0

    package init() {}

    package init(_ bytes: [UInt8]) { append(bytes[...]) }

    @inlinable package var isEmpty: Bool { count == 0 }

    package mutating func append(_ bytes: [UInt8]) { append(bytes[...]) }

    package mutating func append(_ bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty else { return }
        count += bytes.count
        guard bytes.count < Self.coalescedLength, appendToLast(bytes) else {
            pieces.append(bytes)
            return
        }
    }

    package mutating func append(_ other: ByteChain) {
        if let first = other.pieces.first { append(first) }
        for piece in other.pieces.rest { append(piece) }
    }

    /// Everything, where it lies in one piece; `nil` if it does not.
    package var onlyPiece: ArraySlice<UInt8>? { pieces.rest.isEmpty ? pieces.first : nil }

    /// Takes the first piece, or its beginning if it is longer than `limit`. `nil` if there is none, or the limit is not positive.
    package mutating func popPiece(atMost limit: Int = .max) -> ArraySlice<UInt8>? {
        guard limit > 0, let first = pieces.first else { return nil }
        if first.count <= limit {
            count -= first.count
            return pieces.popFirst()
        }
        let end = first.startIndex + limit
        pieces.first = first[end...]
        count -= limit
        return first[..<end]
    }

    /// Takes at most `limit` bytes.
    package mutating func take(atMost limit: Int) -> ByteChain {
        guard limit < count else {
            let all = self
            self = ByteChain()
            return all
        }
        var taken = ByteChain()
        while taken.count < limit, let piece = popPiece(atMost: limit - taken.count) { taken.append(piece) }
        return taken
    }

    /// Drops at most `limit` bytes. Returns how many it dropped.
    @discardableResult
    package mutating func drop(atMost limit: Int) -> Int {
        var dropped = 0
        while dropped < limit, let piece = popPiece(atMost: limit - dropped) { dropped += piece.count }
        return dropped
    }

    /// The first `limit` bytes in one piece, or all if they are fewer. They stay.
    ///
    /// What had to be joined stays joined, and grows in place: asking again after each new byte costs no more than the bytes.
    package mutating func front(_ limit: Int) -> ArraySlice<UInt8> {
        guard limit > 0, var first = pieces.popFirst() else { return [] }
        let wanted = min(limit, count)
        while first.count < wanted, var next = pieces.popFirst() {
            let missing = wanted - first.count
            // A large piece is not swallowed for the sake of a header that ends in it.
            if next.count > max(missing, Self.gatheredLength) {
                first.append(contentsOf: next.prefix(missing))
                next.removeFirst(missing)
                pieces.prepend(next)
            } else {
                first.append(contentsOf: next)
            }
        }
        let front = first.prefix(wanted)
        pieces.prepend(first)
        return front
    }

    /// A copy of everything in one array.
    package var bytes: [UInt8] {
        var all: [UInt8] = []
        all.reserveCapacity(count)
        if let first = pieces.first { all += first }
        for piece in pieces.rest { all += piece }
        return all
    }

    private mutating func appendToLast(_ bytes: ArraySlice<UInt8>) -> Bool {
        if pieces.rest.isEmpty {
            guard let length = pieces.first?.count, length + bytes.count <= Self.gatheredLength else { return false }
            pieces.first?.append(contentsOf: bytes)
        } else {
            let last = pieces.rest.count - 1
            guard pieces.rest[last].count + bytes.count <= Self.gatheredLength else { return false }
            pieces.rest[last].append(contentsOf: bytes)
        }
        return true
    }
}

extension ByteChain: Equatable {
    package static func == (one: ByteChain, other: ByteChain) -> Bool {
        one.count == other.count && one.bytes == other.bytes
    }
}
