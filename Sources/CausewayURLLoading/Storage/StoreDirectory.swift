internal import CausewayHTTPProtocols
internal import Foundation

/// The directories of the stores that outlive the process, below `$XDG_DATA_HOME/causeway`.
enum StoreDirectory {
    /// The directory of this program; `nil` if its stores are kept in memory only: without a home directory, and in test runners, because
    /// tests must not change the data of their user.
    static let application: String? =
        isTestRunner(executableName) ? nil : path(in: ProcessInfo.processInfo.environment, "programs", programName)

    /// The name of this program: the identifier of its bundle, or the name of its file.
    static let programName = Bundle.main.bundleIdentifier ?? executableName

    /// Returns the directory that the programs of a group share; `nil` as for ``application``.
    static func group(_ identifier: String) -> String? {
        isTestRunner(executableName) ? nil : path(in: ProcessInfo.processInfo.environment, "groups", identifier)
    }

    private static var executableName: String {
        CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? ""
    }

    static func isTestRunner(_ executable: String) -> Bool {
        executable.hasSuffix(".xctest") || executable == "xctest" || executable == "swiftpm-testing-helper"
    }

    /// Returns the directory with a name; `nil` if the environment names no home directory. Relative paths are ignored, as the XDG Base
    /// Directory Specification demands.
    static func path(in environment: [String: String], _ kind: String, _ name: String) -> String? {
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.local/share" : nil }
        let given = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        guard let root = given ?? home else { return nil }
        return "\(root)/causeway/\(kind)/\(component(name))"
    }

    /// Returns a name as a single component of a path that no other name has.
    static func distinctComponent(_ name: String) -> String {
        let component = component(name)
        return component == name
            ? name : component.prefix(100) + "-" + String(CacheChecksum.of(Array(name.utf8)), radix: 16)
    }

    /// Returns a name as a single component of a path, which is neither hidden nor leads elsewhere.
    private static func component(_ name: String) -> String {
        let safe = name.unicodeScalars.prefix(128).map { scalar -> Character in
            let isSafe = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            return isSafe || "-_.".unicodeScalars.contains(scalar) ? Character(scalar) : "_"
        }
        return safe.isEmpty || safe[0] == "." ? "_" + String(safe) : String(safe)
    }
}
