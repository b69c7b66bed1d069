import Causeway
import CausewayWire
import FoundationEssentials

/// The receiving side of one connection of the transfer protocol.
struct FileReceiver {
    /// One file that was read from the connection, whether or not it was stored.
    struct Received: Sendable {
        /// `nil` if the name was refused.
        var name: String?
        var byteCount: UInt64
        var reply: TransferReply
        var reason: String
    }

    private let connection: NWConnection
    private let directory: String
    private let replaces: Bool
    private let maximumSize: UInt64?
    private let lane = FileLane("nw.receive")
    private var reader: StreamReader

    init(connection: NWConnection, directory: String, replaces: Bool, maximumSize: UInt64?) {
        self.connection = connection
        self.directory = directory
        self.replaces = replaces
        self.maximumSize = maximumSize
        reader = StreamReader(connection)
    }

    /// Receives one file and answers it. `nil` when the sender has no more.
    ///
    /// - Throws: ``TransferHeader/Malformed``, ``StreamReader/UnexpectedEnd`` or what the connection failed with: then
    ///   nothing of the file remains.
    mutating func next() async throws -> Received? {
        guard let fixed = try await reader.exactly(TransferHeader.fixedByteCount) else { return nil }
        let (nameLength, byteCount) = try TransferHeader.lengths(in: fixed)
        guard let octets = try await reader.exactly(nameLength) else { throw StreamReader.UnexpectedEnd() }
        let name = try? TransferHeader.safeName(octets)
        var received = Received(name: name, byteCount: byteCount, reply: .stored, reason: "")
        var file: IncomingFile?
        if let refusal = await refusal(of: name, byteCount) {
            received.reply = refusal
        } else {
            file = try await opening(&received)
        }
        do {
            try await readContent(into: &file, &received)
            guard let digest = try await reader.exactly(SHA256.byteCount) else { throw StreamReader.UnexpectedEnd() }
            if let name, let file { await finish(file, name, digest, &received) }
        } catch {
            // Now, not when the last reference goes: the process may end before that.
            if let file { await lane.finish { file.discard() } }
            throw error
        }
        if received.reason.isEmpty { received.reason = received.reply.explanation }
        try await connection.send(Data([received.reply.rawValue]))
        return received
    }

    /// Why a file will not be stored, as far as its header shows.
    private func refusal(of name: String?, _ byteCount: UInt64) async -> TransferReply? {
        guard let name else { return .nameRefused }
        if let maximumSize, byteCount > maximumSize { return .tooLarge }
        let path = "\(directory)/\(name)"
        let isTaken = (try? await lane.run { DirectoryEntries.exists(path) }) ?? false
        return isTaken && !replaces ? .nameTaken : nil
    }

    private func opening(_ received: inout Received) async throws -> IncomingFile? {
        do {
            return try await lane.run { [directory] in try IncomingFile(in: directory) }
        } catch {
            received.reply = .notWritten
            received.reason = describe(error).text
            return nil
        }
    }

    /// Reads all of the content, also when there is no file for it: the next header follows it.
    private mutating func readContent(into file: inout IncomingFile?, _ received: inout Received) async throws {
        var rest = received.byteCount
        while rest > 0 {
            guard let content = try await reader.next(atMost: rest) else { throw StreamReader.UnexpectedEnd() }
            rest -= UInt64(content.count)
            guard let open = file else { continue }
            do {
                try await lane.run { try open.append(content) }
            } catch {
                received.reply = .notWritten
                received.reason = describe(error).text
                file = nil
            }
        }
    }

    private func finish(_ file: IncomingFile, _ name: String, _ digest: Data, _ received: inout Received) async {
        do {
            received.reply = try await lane.run { [replaces] in
                try file.finish(name: name, digest: digest, replacing: replaces)
            }
        } catch {
            received.reply = .notWritten
            received.reason = describe(error).text
        }
    }
}
