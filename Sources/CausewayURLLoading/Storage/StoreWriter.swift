internal import Causeway
internal import CausewaySystem
internal import Dispatch

/// Writes a store to its file shortly after a change, on a background queue. Changes within that time are written together.
final class StoreWriter: Sendable {
    private static let delay = Duration.milliseconds(250)

    private let queue = DispatchQueue(label: "causeway.store", qos: .utility)
    private let isWaiting = LockedValue(false)
    private let save: @Sendable () -> Void

    /// - Parameters:
    ///   - savesAtExit: Whether to write pending changes also when the process exits.
    ///   - save: Writes the store. Called on one thread at a time.
    init(savesAtExit: Bool, save: @escaping @Sendable () -> Void) {
        self.save = save
        if savesAtExit { System.atExit { [weak self] in self?.flush() } }
    }

    /// Schedules a write. Returns at once.
    func noteChange() {
        let isFirst = isWaiting.withLock { isWaiting in
            defer { isWaiting = true }
            return !isWaiting
        }
        if isFirst { queue.call(after: Self.delay) { [self] in saveIfWaiting() } }
    }

    /// Writes all pending changes. Returns after they are written.
    func flush() { queue.sync { saveIfWaiting() } }

    private func saveIfWaiting() {
        let isWaiting = isWaiting.withLock { isWaiting in
            defer { isWaiting = false }
            return isWaiting
        }
        if isWaiting { save() }
    }
}
