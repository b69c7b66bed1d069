internal import CausewaySystem
internal import Foundation

/// The directories of background sessions: `$XDG_STATE_HOME/causeway/sessions/<program>/<identifier>`.
enum BackgroundDirectory {
    /// The directory that contains the background sessions of all programs; `nil` if neither `XDG_STATE_HOME` nor
    /// `HOME` is an absolute path.
    static func root(in environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.local/state" : nil }
        let given = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (given ?? home).map { $0 + "/causeway/sessions" }
    }

    /// Returns the directory for a session of this program; `nil` in test runners and without a home directory.
    static func path(of background: SessionSettings.Background) -> String? {
        guard let identifier = background.identifier, StoreDirectory.application != nil, let root = root() else {
            return nil
        }
        // As on Apple platforms, a program and its extensions share background sessions if they set the same
        // `sharedContainerIdentifier`.
        let program = background.sharedContainerIdentifier.map { "group-" + $0 } ?? StoreDirectory.programName
        return "\(root)/\(StoreDirectory.distinctComponent(program))/\(StoreDirectory.distinctComponent(identifier))"
    }

    /// The directory of a session, or a directory that cannot be read and may contain sessions.
    struct Found {
        var path: String
        /// Why the directory cannot be read; `nil` for the directory of a session.
        var failure: SystemError?
    }

    /// Returns the directories of all sessions, sorted by their paths.
    static func all(in root: String) -> [Found] {
        let programs: [String]
        do throws(SystemError) {
            programs = try DirectoryStream.names(in: root)
        } catch {
            return error.errno == Errno.noEntry ? [] : [Found(path: root, failure: error)]
        }
        return programs.flatMap { sessions(in: "\(root)/\($0)") }.sorted { $0.path < $1.path }
    }

    private static func sessions(in folder: String) -> [Found] {
        do throws(SystemError) {
            return try DirectoryStream.names(in: folder).map { Found(path: "\(folder)/\($0)") }
        } catch {
            return isOther(error) ? [] : [Found(path: folder, failure: error)]
        }
    }

    /// Returns whether an error means that there is no directory of this name: it was removed, or it is another file.
    static func isOther(_ error: SystemError) -> Bool { [ENOENT, ENOTDIR, ELOOP].contains(error.errno) }
}
