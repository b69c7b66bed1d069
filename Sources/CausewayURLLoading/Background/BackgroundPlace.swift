internal import Foundation

/// Where the tasks of a session are stored.
enum BackgroundPlace: Sendable {
    /// The session is no background session.
    case foreground
    /// The tasks end with the process: in test runners and without a home directory.
    case memory
    /// The directory cannot be used, so the tasks fail.
    case unusable
    case stored(BackgroundSession)

    /// Opens the place of a session of the program.
    init(_ settings: SessionSettings) {
        guard settings.background.identifier != nil else {
            self = .foreground
            return
        }
        guard let path = BackgroundDirectory.path(of: settings.background) else {
            self = .memory
            return
        }
        self.init(settings, directory: path)
        if let session, let root = BackgroundDirectory.root() { session.useAgent(in: root) }
    }

    /// Opens a directory for a session of the program.
    init(_ settings: SessionSettings, directory: String) {
        self = TransferStore(directory).map { .stored(BackgroundSession($0, settings, role: .owner)) } ?? .unusable
    }

    /// The transfers of the session; `nil` if they are not stored.
    var session: BackgroundSession? {
        if case .stored(let session) = self { session } else { nil }
    }
}
