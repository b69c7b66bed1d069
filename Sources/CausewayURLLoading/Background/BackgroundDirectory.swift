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

    /// The paths of all sessions in a directory, sorted.
    static func all(in root: String) -> [String] {
        let files = FileManager.default
        let programs = (try? files.contentsOfDirectory(atPath: root)) ?? []
        return programs.flatMap { program in
            ((try? files.contentsOfDirectory(atPath: "\(root)/\(program)")) ?? []).map { "\(root)/\(program)/\($0)" }
        }.sorted()
    }
}
