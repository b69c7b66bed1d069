internal import CausewaySystem
internal import CausewayWire
internal import FoundationEssentials

/// Sends data in chunks, so that sending reports its progress and the connection holds only a few chunks at a time.
final class DataBodySource: HTTPBodySource {
    private static let pieceSize = 64 << 10
    private let rest: LockedValue<Data>

    init(_ data: Data) { rest = LockedValue(data) }

    func next(_ completion: @escaping @Sendable (HTTPBodyPiece) -> Void) {
        let piece = rest.withLock { rest in
            defer { rest = rest.dropFirst(Self.pieceSize) }
            return rest.prefix(Self.pieceSize)
        }
        completion(piece.isEmpty ? .end(FieldSection()) : .content(piece))
    }

    func stop() { rest.withLock { rest in rest = Data() } }
}
