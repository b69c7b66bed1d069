import Causeway
import CausewayHTTPServer
import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// Stores the files that clients upload in a directory. Existing files are never replaced. If one file of a request
/// cannot be stored, none of the request's files is stored.
struct UploadStore: Sendable {
    /// The list of files that were stored for one request.
    struct Receipt: Encodable, Sendable {
        struct File: Encodable, Sendable {
            /// The name in the directory.
            var file: String
            var bytes: UInt64
            var sha256: String
            /// The form field's name.
            var field: String?
            /// The media type stated by the client.
            var type: String?
        }

        struct Text: Encodable, Sendable {
            var name: String
            var value: String
        }

        var files: [File] = []
        var fields: [Text] = []
    }

    /// A file with complete content that has no final name yet.
    private struct Pending {
        var receipt: Receipt.File
        var file: IncomingFile
    }

    /// Maximum number of files in a form. All of them stay open until the form is complete.
    private static let fileLimit = 64
    /// Maximum total size of a form's fields other than files, in bytes.
    private static let textLimit = 1 << 20

    let directory: String

    /// Checks that the directory can be opened. Removes the temporary files that killed processes left there.
    func prepare() throws(NWError) {
        _ = try OpenFile(directory: directory)
        _ = IncomingFile.removeAbandoned(in: directory)
    }

    /// Stores a form's files.
    ///
    /// - Throws: ``HTTPServerError`` for a malformed form; connection or disk errors. No file is stored then.
    func store(_ form: HTTPServerForm) async throws -> Receipt {
        var reading = Reading(directory: directory)
        do {
            for try await step in form { try await reading.take(step) }
            return try await reading.finish()
        } catch {
            await reading.abandon()
            throw error
        }
    }

    /// Stores content that is not a form.
    func store(_ body: HTTPServerRequestBody, as name: String, type: String?) async throws -> Receipt {
        var reading = Reading(directory: directory)
        do {
            try await reading.begin(Receipt.File(file: name, bytes: 0, sha256: "", field: nil, type: type))
            for try await piece in body { try await reading.append(piece) }
            try await reading.endFile()
            return try await reading.finish()
        } catch {
            await reading.abandon()
            throw error
        }
    }

    /// The progress of a single upload request.
    private struct Reading {
        let directory: String
        let thread = FileThread("nw.upload")
        var receipt = Receipt()
        var pending: [Pending] = []
        var current: Pending?
        var text: (name: String, content: Data)?
        var textCount = 0

        init(directory: String) { self.directory = directory }

        mutating func take(_ step: HTTPServerForm.Element) async throws {
            switch step {
            case .part(let part):
                // For an unselected file, browsers send a part with a type but without a name.
                guard part.filename != nil || part.mediaType?.hasPrefix("text/") == false else {
                    return text = (part.name, Data())
                }
                let name = part.filename ?? "upload"
                try await begin(
                    Receipt.File(file: name, bytes: 0, sha256: "", field: part.name, type: part.mediaType))
            case .content(let piece):
                guard text == nil else { return try appendText(piece) }
                try await append(piece)
            case .end:
                if let text {
                    receipt.fields.append(.init(name: text.name, value: String(decoding: text.content, as: UTF8.self)))
                }
                text = nil
                try await endFile()
            }
        }

        private mutating func appendText(_ piece: Data) throws {
            textCount += piece.count
            guard textCount <= UploadStore.textLimit else {
                throw HTTPServerError(status: 413, "the fields are too long")
            }
            text?.content += piece
        }

        mutating func begin(_ file: Receipt.File) async throws {
            guard pending.count < UploadStore.fileLimit else { throw HTTPServerError(status: 413, "too many files") }
            let directory = directory
            current = Pending(receipt: file, file: try await thread.run { try IncomingFile(in: directory) })
        }

        mutating func append(_ piece: Data) async throws {
            guard let file = current?.file else { return }
            try await thread.run { try file.append(piece) }
            current?.receipt.bytes += UInt64(piece.count)
        }

        mutating func endFile() async throws {
            guard var ended = current else { return }
            current = nil
            // An empty file without a name means that the user has not selected a file.
            if ended.receipt.file == "upload", ended.receipt.bytes == 0 { return ended.file.discard() }
            let file = ended.file
            let digest = try await thread.run { file.endContent() }
            ended.receipt.sha256 = Hexadecimal.text(digest)
            pending.append(ended)
        }

        /// Renames all files to their final names. If a file cannot be renamed, removes all files.
        mutating func finish() async throws -> Receipt {
            let files = pending.map { (file: $0.file, name: UnusedName.safe($0.receipt.file) ?? "upload") }
            // Rename the remaining files even if the client disconnects in the meantime.
            let names = try await thread.finishing { try IncomingFile.store(files) }
            for (index, name) in names.enumerated() {
                pending[index].receipt.file = name
                receipt.files.append(pending[index].receipt)
            }
            pending = []
            return receipt
        }

        /// Removes files that have no final name yet.
        func abandon() async {
            let files = pending.map(\.file) + [current?.file].compactMap { $0 }
            await thread.finish { for file in files { file.discard() } }
        }
    }
}
