import CausewayTypes
import CausewayWire
import Foundation

/// File names chosen by a peer: no existing file is replaced, no file is hidden, and no name misleads the user.
enum UnusedName {
    /// The maximum length of a name in bytes. File systems accept 255; the rest is for suffixes such as `.part.json` and `.999`.
    static let maximumByteCount = 200
    /// The maximum length of the extension kept in a shortened name, in bytes.
    private static let maximumExtensionByteCount = 20

    // MARK: Names

    /// Makes a file name from a peer safe: removes folders, control characters and changes of the text direction,
    /// replaces leading dots with underscores, and keeps at most ``maximumByteCount`` bytes. Returns `nil` if nothing
    /// is left.
    static func safe(_ name: String) -> String? {
        guard let last = ContentDisposition.lastComponent(name) else { return nil }
        let visible = visible(last)
        // Replace leading dots, so that the file is not hidden. A hidden file may change how programs behave: a shell,
        // for example, runs `.bashrc` when it starts.
        let dots = visible.unicodeScalars.prefix { $0 == "." }.count
        let shown = String(repeating: "_", count: dots) + String(visible.unicodeScalars.dropFirst(dots))
        return shown.isEmpty ? nil : shortened(shown)
    }

    /// Splits a name before its last dot. The extension is empty if there is none.
    static func parts(of name: String) -> (base: String, fileExtension: String) {
        guard let dot = name.unicodeScalars.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
        return (String(name[..<dot]), String(name.unicodeScalars[dot...].dropFirst()))
    }

    /// Returns the first of `NAME`, `NAME.1` ... that is not in `taken`.
    static func first(_ name: String, besides taken: Set<String>) -> String {
        var number = 0
        while taken.contains(numbered(name, number)) { number += 1 }
        return numbered(name, number)
    }

    private static func numbered(_ name: String, _ number: Int) -> String { number == 0 ? name : "\(name).\(number)" }

    /// Removes characters that must not be sent to a terminal.
    private static func visible(_ name: String) -> String {
        var kept = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            // A joiner is printable only after certain characters, so test the scalar together with the end of `kept`.
            // Use the shortest suffix of one to four scalars that is printable on its own. Such a suffix does not begin
            // with a joiner.
            let contexts = (1...4).lazy.map { String.UnicodeScalarView(kept.suffix($0)) }
            var text = contexts.first { isPrintable(String($0)) } ?? String.UnicodeScalarView()
            text.append(scalar)
            if isPrintable(String(text)) { kept.append(scalar) }
        }
        return String(kept)
    }

    private static func isPrintable(_ text: String) -> Bool { PrintableText(foreign: text).text == text }

    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > maximumByteCount else { return name }
        var (base, end) = parts(of: name)
        end = end.isEmpty ? "" : ".\(end)"
        if end.utf8.count > maximumExtensionByteCount { (base, end) = (name, "") }
        var room = maximumByteCount - end.utf8.count
        var kept = String.UnicodeScalarView()
        for scalar in base.unicodeScalars {
            room -= UTF8.width(scalar)
            guard room >= 0 else { break }
            kept.append(scalar)
        }
        return String(kept) + end
    }

    // MARK: Files

    /// Moves a file to the first unused name among `NAME`, `NAME.1` ... and returns its URL. Never replaces a file,
    /// even if another process chooses the same name at the same time.
    ///
    /// - Parameter name: The peer's name for the file; see ``safe(_:)``.
    /// - Throws: `.posix(.EEXIST)` if the first 1,000 names exist; file system errors.
    static func move(_ file: URL, to name: String, in directory: URL) throws -> URL {
        let name = safe(name) ?? "download"
        do {
            return try rename(file, to: name, in: directory)
        } catch let error as NWError where error == .posix(.EXDEV) {
            // The directory is on another file system, so the file cannot be renamed into it. Copy the file under a
            // temporary name, and then rename the copy.
            let copy = directory.appendingPathComponent(".\(UUID().uuidString).part")
            defer { try? FileManager.default.removeItem(at: copy) }
            try FileManager.default.copyItem(at: file, to: copy)
            let place = try rename(copy, to: name, in: directory)
            try? FileManager.default.removeItem(at: file)
            return place
        }
    }

    private static func rename(_ file: URL, to name: String, in directory: URL) throws -> URL {
        for number in 0...999 {
            let place = directory.appendingPathComponent(numbered(name, number))
            do {
                try DirectoryEntries.moveWithoutReplacing(file.path, to: place.path)
                return place
            } catch {
                guard error == .posix(.EEXIST) else { throw error }
            }
        }
        throw NWError.posix(.EEXIST)
    }
}
