internal import CausewaySystem
internal import Foundation

/// The directories of background sessions: `$XDG_STATE_HOME/causeway/sessions/<program>/<identifier>`.
enum BackgroundDirectory {
    /// The directory of all programs; `nil` without a home directory.
    static func root(in environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.local/state" : nil }
        let given = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (given ?? home).map { $0 + "/causeway/sessions" }
    }

    /// Returns the directory of a session of this program; `nil` in test runners and without a home directory.
    static func path(of background: SessionSettings.Background) -> String? {
        guard let identifier = background.identifier, StoreDirectory.application != nil, let root = root() else {
            return nil
        }
        // Programs and their extensions share the sessions of a container, as on Apple platforms.
        let program = background.sharedContainerIdentifier.map { "group-" + $0 } ?? StoreDirectory.programName
        return "\(root)/\(StoreDirectory.distinctComponent(program))/\(StoreDirectory.distinctComponent(identifier))"
    }

    /// The paths of all sessions of the user, sorted.
    static func all(in root: String) -> [String] {
        let files = FileManager.default
        let programs = (try? files.contentsOfDirectory(atPath: root)) ?? []
        return programs.flatMap { program in
            ((try? files.contentsOfDirectory(atPath: "\(root)/\(program)")) ?? []).map { "\(root)/\(program)/\($0)" }
        }.sorted()
    }
}
