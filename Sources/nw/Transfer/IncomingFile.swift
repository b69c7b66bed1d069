import Causeway
import CausewayWire
import FoundationEssentials

/// A file being received: under a temporary name until it is whole, on the disk and known to be right.
///
/// Not `Sendable` by itself: its owner passes it through one ``FileLane``, whose thread does all the blocking work.
// SAFETY: every method runs on the one lane of the transfer that owns the file, one call after another.
final class IncomingFile: @unchecked Sendable {
    /// Names that begin so are this program's own.
    static let temporaryPrefix = ".nw-receive-"

    private let directory: String
    private let temporaryPath: String
    private let file: OpenFile
    private var hash = SHA256()
    /// Whether there is nothing left to clean up.
    private var isSettled = false

    init(in directory: String) throws(NWError) {
        self.directory = directory
        let random = String(UInt64.random(in: .min ... .max), radix: 36)
        temporaryPath = "\(directory)/\(Self.temporaryPrefix)\(random)"
        file = try OpenFile(creating: temporaryPath)
    }

    deinit {
        discard()
    }

    /// Removes what was received, unless it has its name already.
    func discard() {
        if !isSettled { try? DirectoryEntries.removeFile(temporaryPath) }
        isSettled = true
    }

    func append(_ content: Data) throws {
        hash.update(content.bytes)
        do {
            try file.writeAll(content)
        } catch {
            discard()
            throw error
        }
    }

    /// Compares the checksum and gives the file its name. A file that is not stored is removed.
    func finish(name: String, digest: Data, replacing: Bool) throws -> TransferReply {
        defer { discard() }
        guard hash.finish() == [UInt8](digest) else { return .checksumMismatch }
        try file.synchronize()
        do {
            let path = "\(directory)/\(name)"
            if replacing {
                try DirectoryEntries.move(temporaryPath, to: path)
            } else {
                try DirectoryEntries.moveWithoutReplacing(temporaryPath, to: path)
            }
        } catch .posix(.EEXIST) {
            return .nameTaken
        }
        isSettled = true
        // The name too has to be on the disk before the sender hears that its file is safe.
        try OpenFile(directory: directory).synchronize()
        return .stored
    }
}
