import Causeway
import CausewayWire
import FoundationEssentials

/// The sending side of one connection of the transfer protocol.
struct FileSender {
    /// This file was not stored, but the connection can carry the next one.
    struct NotSent: Error {
        let reason: String
    }

    /// Octets read from the disk and given to the connection at a time.
    private static let chunk = 262_144

    private let connection: NWConnection
    private let lane = FileLane("nw.send")
    private var replies: StreamReader

    init(connection: NWConnection) {
        self.connection = connection
        replies = StreamReader(connection)
    }

    /// Sends one file and waits until the receiver answers.
    mutating func send(_ path: String) async throws {
        let name = String(path.split(separator: "/", omittingEmptySubsequences: true).last ?? "")
        let file = try await open(path)
        guard let header = TransferHeader(name: name, byteCount: file.byteCount).encoded() else {
            throw NotSent(reason: "the name is longer than 255 bytes")
        }
        try await connection.send(header)
        var progress = ProgressBar(name, byteCount: file.byteCount)
        defer { progress.finish() }
        var sent: UInt64 = 0
        while sent < file.byteCount {
            let limit = Int(min(UInt64(Self.chunk), file.byteCount - sent))
            guard let content = try await lane.run({ try file.next(atMost: limit) }) else {
                throw Failure("the file became shorter while it was sent")
            }
            try await connection.send(content)
            sent += UInt64(content.count)
            progress.advance(to: sent)
        }
        try await connection.send(try await lane.run { file.digest() })
        try await awaitReply()
    }

    private func open(_ path: String) async throws -> OutgoingFile {
        do {
            return try await lane.run { try OutgoingFile(path) }
        } catch let error as Failure {
            throw NotSent(reason: error.message.text)
        } catch {
            throw NotSent(reason: describe(error).text)
        }
    }

    private mutating func awaitReply() async throws {
        guard let octet = try await replies.exactly(1)?.first else {
            throw Failure("the receiver ended the connection without an answer")
        }
        guard let reply = TransferReply(rawValue: octet) else { throw Failure("the receiver's answer makes no sense") }
        if reply != .stored { throw NotSent(reason: reply.explanation) }
    }
}

/// A file on its way out, hashed as it is read.
// SAFETY: after `init`, every method runs on the one lane of the sender that owns the file, one call after another.
private final class OutgoingFile: @unchecked Sendable {
    let byteCount: UInt64
    private let file: OpenFile
    private var hash = SHA256()

    init(_ path: String) throws {
        let file = try OpenFile(reading: path)
        guard case .regular(let byteCount) = file.kind else { throw Failure("not a regular file") }
        self.byteCount = byteCount
        self.file = file
    }

    func next(atMost limit: Int) throws -> Data? {
        guard let content = try file.readChunk(atMost: limit) else { return nil }
        hash.update(content.bytes)
        return content
    }

    func digest() -> Data {
        Data(hash.finish())
    }
}
