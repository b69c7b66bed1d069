import Causeway
import CausewaySystem
import FoundationEssentials

/// Sends files over one connection of the file transfer protocol.
struct FileSender {
    /// The receiver did not store the file, but the connection can send the next file.
    struct NotSent: Error {
        let reason: String
    }

    /// The number of bytes read from the disk and sent at a time.
    private static let chunk = 262_144

    private let connection: NWConnection
    private let thread = FileThread("nw.send")
    private let idle: IdleTime
    private var replies: StreamReader

    /// - Parameter idle: The time since the receiver most recently accepted bytes.
    init(connection: NWConnection, idle: IdleTime) {
        self.connection = connection
        self.idle = idle
        replies = StreamReader(connection)
    }

    /// Sends one file and waits for the receiver's reply.
    ///
    /// - Returns: The content size in bytes.
    mutating func send(_ path: String) async throws -> UInt64 {
        let name = String(path.split(separator: "/", omittingEmptySubsequences: true).last ?? "")
        let file = try await open(path)
        guard let header = TransferHeader(name: name, byteCount: file.byteCount).encoded() else {
            throw NotSent(reason: "the name is longer than 255 bytes")
        }
        try await connection.send(header)
        var progress = ProgressBar(name, byteCount: file.byteCount)
        defer { progress.finish() }
        try await sendContent(of: file) { progress.advance(to: $0) }
        try await connection.send(try await thread.run { file.digest() })
        idle.end()
        try await awaitReply()
        idle.end()
        return file.byteCount
    }

    /// Sends the file's content in chunks. While the connection sends one chunk, this method reads and hashes the next
    /// chunk.
    private func sendContent(of file: OutgoingFile, _ note: (UInt64) -> Void) async throws {
        let thread = thread
        var left = file.byteCount
        var content = try await Self.read(file, atMost: left, on: thread)
        while let piece = content {
            left -= UInt64(piece.count)
            let limit = left
            // Do not count the time for reading the disk as the receiver's idle time.
            idle.end()
            async let following = Self.read(file, atMost: limit, on: thread)
            try await connection.send(piece)
            note(file.byteCount - left)
            content = try await following
        }
    }

    /// Reads the next chunk, at most `limit` bytes. Returns `nil` at the end of the content.
    private static func read(
        _ file: OutgoingFile, atMost limit: UInt64, on thread: FileThread
    ) async throws -> Data? {
        guard limit > 0 else { return nil }
        let count = Int(min(UInt64(chunk), limit))
        guard let content = try await thread.run({ try file.next(atMost: count) }) else {
            throw CommandFailure("the file became shorter while it was sent")
        }
        return content
    }

    private func open(_ path: String) async throws -> OutgoingFile {
        do {
            return try await thread.run { try OutgoingFile(path) }
        } catch let error as CommandFailure {
            throw NotSent(reason: error.message.text)
        } catch {
            throw NotSent(reason: describe(error).text)
        }
    }

    private mutating func awaitReply() async throws {
        guard let byte = try await replies.exactly(1)?.first else {
            throw CommandFailure("the receiver closed the connection without a reply")
        }
        guard let reply = TransferReply(rawValue: byte) else {
            throw CommandFailure("the receiver sent an invalid reply")
        }
        if reply != .stored { throw NotSent(reason: reply.explanation) }
    }
}

/// A file that is being sent. The digest is computed while the file is read.
private final class OutgoingFile: Sendable {
    let byteCount: UInt64
    private let file: OpenFile
    private let hash = LockedValue(ContentDigest())

    init(_ path: String) throws {
        let file = try OpenFile(reading: path)
        guard case .regular(let byteCount) = file.kind else { throw CommandFailure("not a regular file") }
        self.byteCount = byteCount
        self.file = file
    }

    func next(atMost limit: Int) throws -> Data? {
        guard let content = try file.readChunk(atMost: limit) else { return nil }
        hash.withLock { $0.update(content) }
        return content
    }

    func digest() -> Data {
        Data(hash.withLock { $0.finish() })
    }
}
