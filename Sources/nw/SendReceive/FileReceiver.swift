import Causeway
import FoundationEssentials

/// The receiving side of one transfer protocol connection.
struct FileReceiver {
    /// A receiver's options.
    struct Rules: Sendable {
        var directory: String
        /// Whether to replace existing files.
        var replaces = false
        /// Whether to accept names that begin with a dot.
        var allowsHidden = false
        var maximumSize: UInt64?
    }

    /// A file that was read from the connection, stored or not.
    struct Received: Sendable {
        /// The sender's file name.
        var shownName: String
        var byteCount: UInt64
        var reply: TransferReply
        var reason: String
    }

    private let connection: NWConnection
    private let rules: Rules
    private let thread = FileThread("nw.receive")
    private var reader: StreamReader

    init(connection: NWConnection, rules: Rules) {
        self.connection = connection
        self.rules = rules
        reader = StreamReader(connection)
    }

    /// Receives one file and sends the reply. Returns `nil` if the sender has no more files.
    ///
    /// - Throws: ``TransferHeader/Malformed``, ``StreamReader/UnexpectedEnd`` or the connection's error. The incomplete file is removed.
    mutating func next() async throws -> Received? {
        guard let fixed = try await reader.exactly(TransferHeader.fixedByteCount) else { return nil }
        let (nameLength, byteCount) = try TransferHeader.lengths(in: fixed)
        guard let bytes = try await reader.exactly(nameLength) else { throw StreamReader.UnexpectedEnd() }
        let name = try? TransferHeader.safeName(bytes, allowsHidden: rules.allowsHidden)
        var received = Received(
            shownName: String(decoding: bytes, as: UTF8.self), byteCount: byteCount, reply: .stored,
            reason: "")
        var file: IncomingFile?
        if let refusal = await refusal(of: name, byteCount) {
            received.reply = refusal
            if name == nil, (try? TransferHeader.safeName(bytes, allowsHidden: true)) != nil {
                received.reason = "its name begins with a dot; --hidden accepts such files"
            }
        } else {
            file = try await opening(&received)
        }
        do {
            try await readContent(into: &file, &received)
            guard let digest = try await reader.exactly(ContentDigest.byteCount) else {
                throw StreamReader.UnexpectedEnd()
            }
            if let name, let file { await finish(file, name, digest, &received) }
        } catch {
            // Remove the file now and not in `deinit`, because the process may exit before `deinit` runs.
            if let file { await thread.finish { file.discard() } }
            throw error
        }
        if received.reason.isEmpty { received.reason = received.reply.explanation }
        try await connection.send(Data([received.reply.rawValue]))
        return received
    }

    /// Returns the reason to refuse a file because of its header, such as an existing name; `nil` if the header is acceptable.
    private func refusal(of name: String?, _ byteCount: UInt64) async -> TransferReply? {
        guard let name else { return .nameRefused }
        if let limit = rules.maximumSize, byteCount > limit { return .tooLarge }
        let path = "\(rules.directory)/\(name)"
        let isTaken = (try? await thread.run { DirectoryEntries.exists(path) }) ?? false
        return isTaken && !rules.replaces ? .nameTaken : nil
    }

    private func opening(_ received: inout Received) async throws -> IncomingFile? {
        do {
            return try await thread.run { [rules] in try IncomingFile(in: rules.directory) }
        } catch {
            received.reply = .notWritten
            received.reason = describe(error).text
            return nil
        }
    }

    /// Reads all content, even if the file is refused: the header of the next file follows the content.
    ///
    /// One chunk is hashed and written while the connection receives the next chunk.
    private mutating func readContent(into file: inout IncomingFile?, _ received: inout Received) async throws {
        var rest = received.byteCount
        var content = try await next(&rest)
        while let piece = content {
            let (thread, open) = (thread, file)
            async let failure = Self.append(piece, to: open, on: thread)
            content = try await next(&rest)
            if let failure = await failure {
                received.reply = .notWritten
                received.reason = failure
                file = nil
            }
        }
    }

    /// Waits for the next chunk of content. Returns `nil` at the end of the content.
    private mutating func next(_ rest: inout UInt64) async throws -> Data? {
        guard rest > 0 else { return nil }
        guard let content = try await reader.next(atMost: rest) else { throw StreamReader.UnexpectedEnd() }
        rest -= UInt64(content.count)
        return content
    }

    /// Adds one chunk to the file and to the file's hash. Does nothing if the content is not stored. Returns the reason
    /// if the write failed.
    private static func append(_ content: Data, to file: IncomingFile?, on thread: FileThread) async -> String? {
        guard let file else { return nil }
        do {
            try await thread.run { try file.append(content) }
            return nil
        } catch {
            return describe(error).text
        }
    }

    private func finish(_ file: IncomingFile, _ name: String, _ digest: Data, _ received: inout Received) async {
        do {
            received.reply = try await thread.run { [rules] in
                try file.finish(name: name, digest: digest, replacing: rules.replaces)
            }
        } catch {
            received.reply = .notWritten
            received.reason = describe(error).text
        }
    }
}
