internal import DequeModule

/// A queue of bytes that keeps the appended arrays. Appending or removing bytes copies only small pieces.
///
/// A piece shorter than ``coalescedLength`` is copied to the end of the newest array. So if a peer sends single bytes,
/// the queue does not store an array for each byte.
package struct ByteChain: Sendable {
    /// The minimum length in bytes for a piece to be kept without a copy.
    package static let coalescedLength = 512
    /// The maximum length in bytes for an array that collects small pieces.
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

    /// All bytes, if they are stored in one array; `nil` otherwise.
    package var onlyPiece: ArraySlice<UInt8>? { pieces.rest.isEmpty ? pieces.first : nil }

    /// Removes and returns the first piece, or its first `limit` bytes. Returns `nil` if the chain is empty or `limit` is not positive.
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

    /// Removes and returns at most `limit` bytes from the front.
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

    /// Removes at most `limit` bytes from the front. Returns the number of removed bytes.
    @discardableResult
    package mutating func drop(atMost limit: Int) -> Int {
        var dropped = 0
        while dropped < limit, let piece = popPiece(atMost: limit - dropped) { dropped += piece.count }
        return dropped
    }

    /// Returns the first `limit` bytes, or all bytes if there are fewer, as one slice. Does not remove the bytes.
    ///
    /// If the bytes are in several pieces, the method joins them and keeps the joined array. If the method is called repeatedly while more
    /// bytes arrive, each byte is copied only once.
    package mutating func front(_ limit: Int) -> ArraySlice<UInt8> {
        guard limit > 0, var first = pieces.popFirst() else { return [] }
        let wanted = min(limit, count)
        while first.count < wanted, var next = pieces.popFirst() {
            let missing = wanted - first.count
            // If the next piece is large, take only the bytes that `first` still needs. This avoids a copy of the rest
            // of that piece.
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

    /// All bytes, copied to one array.
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
