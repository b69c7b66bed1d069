internal import CausewayHTTPProtocols
internal import Foundation

/// The directories for stores that outlive the process, below `$XDG_DATA_HOME/causeway`.
enum StoreDirectory {
    /// This program's directory. `nil` if the program's stores are kept only in memory. This is so if there is no home
    /// directory, and in test runners, because tests must not change their user's data.
    static let application: String? =
        isTestRunner(executableName) ? nil : path(in: ProcessInfo.processInfo.environment, "programs", programName)

    /// This program's name: its bundle identifier, or its file name.
    static let programName = Bundle.main.bundleIdentifier ?? executableName

    /// Returns the shared directory for an app group; `nil` in the same cases as ``application``.
    static func group(_ identifier: String) -> String? {
        isTestRunner(executableName) ? nil : path(in: ProcessInfo.processInfo.environment, "groups", identifier)
    }

    private static var executableName: String {
        CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? ""
    }

    static func isTestRunner(_ executable: String) -> Bool {
        executable.hasSuffix(".xctest") || executable == "xctest" || executable == "swiftpm-testing-helper"
    }

    /// Returns a named directory; `nil` if the environment names neither a data directory nor a home directory.
    /// Relative paths are ignored, as the XDG Base Directory Specification requires.
    static func path(in environment: [String: String], _ kind: String, _ name: String) -> String? {
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.local/share" : nil }
        let given = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        guard let root = given ?? home else { return nil }
        return "\(root)/causeway/\(kind)/\(component(name))"
    }

    /// Returns a name as a path component. Different names result in different components.
    static func distinctComponent(_ name: String) -> String {
        let component = component(name)
        return component == name
            ? name : component.prefix(100) + "-" + String(CacheChecksum.of(Array(name.utf8)), radix: 16)
    }

    /// Returns `name` as a safe path component: it is not hidden, and it does not refer to another directory.
    private static func component(_ name: String) -> String {
        let safe = name.unicodeScalars.prefix(128).map { scalar -> Character in
            let isSafe = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            return isSafe || "-_.".unicodeScalars.contains(scalar) ? Character(scalar) : "_"
        }
        return safe.isEmpty || safe[0] == "." ? "_" + String(safe) : String(safe)
    }
}
