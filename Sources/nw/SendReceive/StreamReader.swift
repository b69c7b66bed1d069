import Causeway
import FoundationEssentials

/// Reads from a connection exactly as many bytes as a protocol needs.
struct StreamReader {
    /// The connection ended in the middle of the requested bytes.
    struct UnexpectedEnd: Error {}

    /// The maximum size of one receive in bytes.
    private static let chunk = 262_144

    private let connection: NWConnection
    private var buffer = Data()

    init(_ connection: NWConnection) {
        self.connection = connection
    }

    /// Waits for bytes, at most `limit`. Returns `nil` at the end of the stream.
    mutating func next(atMost limit: UInt64) async throws -> Data? {
        if buffer.isEmpty {
            guard let received = try await connection.receive(atMost: Self.chunk) else { return nil }
            buffer = received
        }
        let taken = buffer.prefix(Int(min(limit, UInt64(buffer.count))))
        buffer = buffer.dropFirst(taken.count)
        return taken
    }

    /// Waits for exactly `count` bytes. Returns `nil` if the stream ends before the first of these bytes. Throws an
    /// error if the stream ends later.
    mutating func exactly(_ count: Int) async throws -> Data? {
        var portion = Data()
        while portion.count < count {
            guard let more = try await next(atMost: UInt64(count - portion.count)) else {
                if portion.isEmpty { return nil }
                throw UnexpectedEnd()
            }
            portion.append(more)
        }
        return portion
    }
}
