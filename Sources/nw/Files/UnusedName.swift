import CausewayTypes
import Foundation

/// Names for files whose names a server chooses: none is replaced, and none is hidden.
enum UnusedName {
    /// Moves a file to the first of `NAME`, `NAME.1` ... that no file has, and returns its place. Other processes may choose the same name
    /// at the same time.
    ///
    /// - Throws: `.posix(.EEXIST)` if the first 1,000 names exist; errors of the file system.
    static func move(_ file: URL, to name: String, in directory: URL) throws -> URL {
        let name = name.hasPrefix(".") ? "_" + name : name
        do {
            return try rename(file, to: name, in: directory)
        } catch let error as NWError where error == .posix(.EXDEV) {
            // The directory is on another file system: the file gets its name when it is complete there.
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
            let place = directory.appendingPathComponent(number == 0 ? name : "\(name).\(number)")
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
