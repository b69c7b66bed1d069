internal import CausewaySystem
internal import Foundation

/// Where a session stores its tasks.
enum BackgroundPlace: Sendable {
    /// The session is not a background session.
    case foreground
    /// Tasks are stored in memory and end with the process. This case applies in test runners, and if the user has no
    /// home directory.
    case memory
    /// The directory cannot be used, so tasks fail with this reason.
    case unusable(String)
    case stored(BackgroundSession)

    /// Opens the store for a session of the program.
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
        if let session, let root = BackgroundDirectory.root() {
            session.useAgent(in: root, setBy: settings.background.transferCommand)
        }
    }

    /// Opens a directory for a session of the program.
    init(_ settings: SessionSettings, directory: String) {
        do throws(SystemError) {
            self = .stored(try BackgroundSession(TransferStore(opening: directory), settings, role: .owner))
        } catch {
            self = .unusable(
                "The directory of the background session cannot be used: \(directory): \(error.message). Make this user "
                    + "its owner, with mode 700, or try again later.")
        }
    }

    /// The session's transfers; `nil` if they are not stored.
    var session: BackgroundSession? {
        if case .stored(let session) = self { session } else { nil }
    }
}
