internal import CausewayWire

/// Received bytes that are not yet decoded. Keeps the received slices without copying them.
struct HTTP1Input: Sendable {
    private var pieces = InlineFirstQueue<ArraySlice<UInt8>>()
    private(set) var count = 0
    /// Whether the peer has ended the byte stream, properly or not.
    private(set) var hasEnded = false
    /// Whether the peer ended the stream properly: without a reset and, over TLS, with a closure alert.
    private(set) var endIsClean = false

    var isEmpty: Bool { count == 0 }

    mutating func append(_ piece: ArraySlice<UInt8>) {
        guard !piece.isEmpty, !hasEnded else { return }
        count += piece.count
        pieces.append(piece)
    }

    mutating func end(isClean: Bool) {
        guard !hasEnded else { return }
        hasEnded = true
        endIsClean = isClean
    }

    /// Removes and returns the first piece.
    mutating func popPiece() -> ArraySlice<UInt8>? {
        let piece = pieces.popFirst()
        count -= piece?.count ?? 0
        return piece
    }

    /// Puts the unread rest of an input piece back at the front of the input.
    mutating func putBack(_ piece: ArraySlice<UInt8>) {
        guard !piece.isEmpty else { return }
        count += piece.count
        pieces.prepend(piece)
    }

    mutating func removeAll() -> ByteChain {
        var all = ByteChain()
        while let piece = popPiece() { all.append(piece) }
        return all
    }

    /// Passes received bytes to a head reader.
    ///
    /// - Returns: Whether the head is complete.
    mutating func read(_ head: inout HeadReader) throws(HTTPSyntaxError) -> Bool {
        while let piece = popPiece() {
            let taken = try head.take(piece)
            putBack(piece.dropFirst(taken))
            if head.isComplete { return true }
        }
        return false
    }
}
