import Causeway
import FoundationEssentials

/// A file that is being received. It has a temporary name until it is complete, verified and stored on the disk.
///
/// Confined to its owner's ``FileThread``, which does all blocking work.
///
/// SAFETY: all methods run on one file thread, one call after another. This thread belongs to the transfer that owns
/// the file.
final class IncomingFile: @unchecked Sendable {
    /// The prefix for all temporary names. No other program uses it.
    static let temporaryPrefix = ".nw-receive-"

    private let directory: String
    private let temporaryPath: String
    private let file: OpenFile
    private var hash = ContentDigest()
    /// Whether the temporary file has been renamed or removed.
    private var isSettled = false
    /// The path after the rename.
    private var finalPath: String?

    init(in directory: String) throws(NWError) {
        self.directory = directory
        let created = try Self.createTemporary(in: directory)
        temporaryPath = created.path
        file = created.file
    }

    private struct TemporaryFile: ~Copyable {
        let path: String
        let file: OpenFile
    }

    /// Creates a temporary file, and locks it to show other processes that it is in use.
    private static func createTemporary(in directory: String) throws(NWError) -> TemporaryFile {
        while true {
            let random = String(UInt64.random(in: .min ... .max), radix: 36)
            let path = "\(directory)/\(temporaryPrefix)\(random)"
            let file = try OpenFile(creating: path)
            // Before this process has locked the new file, another process may mistake it for an abandoned file and
            // remove it. In that case, create another file.
            if file.lock() != .heldByAnother, file.isLinked {
                return TemporaryFile(path: path, file: file)
            }
        }
    }

    /// Removes a directory's temporary files that no process has open. They belong to killed processes.
    ///
    /// - Returns: The number of files removed.
    static func removeAbandoned(in directory: String) -> Int {
        let names = (try? DirectoryEntries.names(in: directory, beginningWith: temporaryPrefix)) ?? []
        return names.count { name in
            let path = "\(directory)/\(name)"
            guard let file = try? OpenFile(inspecting: path), file.isOwnRegularFile, file.lock() == .taken else {
                return false
            }
            return (try? DirectoryEntries.removeFile(path)) != nil
        }
    }

    deinit {
        discard()
    }

    /// Removes the temporary file. Does nothing if the file was already renamed or removed.
    func discard() {
        if !isSettled { try? DirectoryEntries.removeFile(temporaryPath) }
        isSettled = true
    }

    func append(_ content: Data) throws {
        hash.update(content)
        do {
            try file.writeAll(content)
        } catch {
            discard()
            throw error
        }
    }

    /// Verifies the checksum. If it is correct, renames the temporary file to `name`. If the checksum is wrong, if the
    /// name exists, or after an error, removes the temporary file.
    func finish(name: String, digest: Data, replacing: Bool) throws -> TransferReply {
        defer { discard() }
        guard hash.finish() == [UInt8](digest) else { return .checksumMismatch }
        try file.synchronize()
        do {
            try keep(as: name, replacing: replacing)
        } catch NWError.posix(.EEXIST) {
            return .nameTaken
        }
        return .stored
    }

    /// Ends the content and returns its SHA-256.
    func endContent() -> [UInt8] { hash.finish() }

    /// Renames the file to `base.fileExtension`, or to `base-2.fileExtension` and so on if that name exists.
    ///
    /// - Parameter fileExtension: The extension; empty for a name without one.
    /// - Returns: The name.
    func store(as base: String, fileExtension: String) throws -> String {
        defer { discard() }
        try file.synchronize()
        var number = 1
        while true {
            let name = base + (number == 1 ? "" : "-\(number)") + (fileExtension.isEmpty ? "" : ".\(fileExtension)")
            do {
                try keep(as: name, replacing: false)
                return name
            } catch NWError.posix(.EEXIST) {
                number += 1
            }
        }
    }

    /// Renames several files as ``store(as:fileExtension:)`` does. If one of them cannot be stored, removes all.
    ///
    /// - Returns: The names.
    static func store(_ files: [(file: IncomingFile, name: String)]) throws -> [String] {
        do {
            return try files.map { file, name in
                let (base, fileExtension) = UnusedName.parts(of: name)
                return try file.store(as: base, fileExtension: fileExtension)
            }
        } catch {
            for (file, _) in files { file.withdraw() }
            throw error
        }
    }

    /// Removes the file, even after it was renamed. If another file now has the final name, that file is kept.
    private func withdraw() {
        discard()
        if let finalPath, file.isFile(at: finalPath) { try? DirectoryEntries.removeFile(finalPath) }
    }

    private func keep(as name: String, replacing: Bool) throws {
        let path = "\(directory)/\(name)"
        if replacing {
            try DirectoryEntries.move(temporaryPath, to: path)
        } else {
            try DirectoryEntries.moveWithoutReplacing(temporaryPath, to: path)
        }
        isSettled = true
        finalPath = path
        // Write the directory entry to the disk too, before the reply confirms the file.
        try OpenFile(directory: directory).synchronize()
    }
}
