import Causeway
import CausewayHTTPProtocols
import CausewaySystem
import FoundationEssentials

/// The file of an incomplete download, and a second file with the data needed to continue.
///
/// The calls block, so they run on the download's ``FileThread``, one after another.
final class PartialFile: Sendable {
    private struct Facts: Codable {
        var url: String
        var validator: String?
        var length: Int?
        /// The boot identifier of the host when the download started. If the host has restarted since then, the stored
        /// content is not used, because it may not be completely on the disk.
        var boot: String?
    }

    private let path: String
    private let url: String
    private let file: OpenFile

    private var factsPath: String { path + ".json" }

    /// Opens or creates the file.
    ///
    /// - Throws: ``CommandFailure`` if another process is downloading to the file; file errors.
    init(at path: String, for url: String) throws {
        self.path = path
        self.url = url
        file = try OpenFile(updating: path)
        // Change the file only after it is locked. Before that, another process may append to the file or rename it.
        guard file.lock() != .heldByAnother, file.isFile(at: path) else {
            throw CommandFailure("another process downloads this file")
        }
        // Move to the end of the stored content, so that new content is written after it.
        if let size = file.regularByteCount { file.cut(to: Int(clamping: size)) }
    }

    /// Returns the part of this URL's content that is already stored.
    ///
    /// The part is empty if the file belongs to another URL. It is also empty after the host has restarted, because
    /// some of the stored bytes may not have reached the disk.
    func stored() -> PartialDownload {
        guard let text = try? OpenFile(reading: factsPath).readChunk(atMost: 64 << 10),
            let facts = try? JSONDecoder().decode(Facts.self, from: text), facts.url == url,
            facts.boot == BootIdentifier.current, let size = file.regularByteCount,
            facts.length.map({ size <= $0 }) ?? true
        else { return PartialDownload() }
        return PartialDownload(position: Int(clamping: size), validator: facts.validator, length: facts.length)
    }

    /// Empties the partial file, because all content will arrive again. If the response has a validator, stores the
    /// validator.
    func restart(_ download: PartialDownload) throws {
        try DirectoryEntries.removeFile(factsPath)
        file.cut(to: 0)
        guard let validator = download.validator else { return }
        let facts = Facts(url: url, validator: validator, length: download.length, boot: BootIdentifier.current)
        let list = try OpenFile(storingAt: factsPath, keeping: nil, followsLinks: false)
        try list.writeAll(try JSONEncoder().encode(facts))
    }

    func append(_ pieces: [Data]) throws { for piece in pieces { try file.writeAll(piece) } }

    /// Compares the file's checksum with the expected checksum. Call this after all content is stored, and before the
    /// file gets its final name.
    ///
    /// - Returns: The checksum; `nil` if no checksum is expected.
    /// - Throws: ``CommandFailure`` if the checksum is wrong. The file is then removed.
    func verify(_ checksum: FileChecksum?) throws -> FileChecksum? {
        try file.synchronize()
        guard let checksum else { return nil }
        let found = try FileChecksum(ofFile: path)
        guard found == checksum else {
            remove()
            throw CommandFailure("the SHA-256 is \(found.text) instead of \(checksum.text)")
        }
        return found
    }

    /// The final path of a file after its download is complete.
    enum Destination: Sendable {
        /// The file is moved to this path. An existing file is replaced.
        case replacing(String)
        /// The file is moved to this path, where no file may exist yet.
        case new(String)
        /// The file gets an unused name in the directory: the name that the server sent or, if it is taken, the first
        /// free name derived from it.
        case unused(String, directory: String)
    }

    /// Renames the complete file to its final name. Returns its path.
    func finish(at destination: Destination) throws -> String {
        let final: String
        switch destination {
        case .replacing(let name):
            try DirectoryEntries.move(path, to: name)
            final = name
        case .new(let name):
            try DirectoryEntries.moveWithoutReplacing(path, to: name)
            final = name
        case .unused(let name, let directory):
            let moved = try UnusedName.move(
                URL(fileURLWithPath: path), to: name, in: URL(fileURLWithPath: directory, isDirectory: true))
            final = directory == "." ? moved.lastPathComponent : "\(directory)/\(moved.lastPathComponent)"
        }
        try? DirectoryEntries.removeFile(factsPath)
        return final
    }

    /// Removes the incomplete file and the file with the data needed to continue.
    func remove() {
        try? DirectoryEntries.removeFile(path)
        try? DirectoryEntries.removeFile(factsPath)
    }

    /// Removes the incomplete file and the file with the data needed to continue, if a later run cannot continue the
    /// download.
    func leave(_ download: PartialDownload) { if download.position == 0 || download.validator == nil { remove() } }
}

extension OpenFile {
    /// The file's size in bytes; `nil` if it is a pipe, socket, device or directory.
    fileprivate var regularByteCount: UInt64? { if case .regular(let count) = kind { count } else { nil } }
}
