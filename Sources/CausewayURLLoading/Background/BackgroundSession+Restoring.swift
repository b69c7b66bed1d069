internal import Causeway
internal import CausewaySystem
internal import Foundation

/// Restores the stored tasks.
extension BackgroundSession {
    /// The time in milliseconds after which records that cannot be read are left to the program's next session.
    private static let maximumRestoringTime = 10_000

    /// Restores the tasks with these identifiers. Called once, with the lock for the transfers.
    func restore(_ stored: [Int], in session: URLSession) {
        store.clean()
        restore(stored, in: session, hasResults: false, waited: 0)
    }

    /// Restores tasks, and tries again later to restore those whose records or results cannot be read now, for example
    /// without a free descriptor.
    ///
    /// - Parameters:
    ///   - stored: The identifiers.
    ///   - session: The session.
    ///   - hasResults: Whether a result was restored before.
    ///   - waited: The time in milliseconds since the first try.
    private func restore(_ stored: [Int], in session: URLSession, hasResults: Bool, waited: Int) {
        var (isResult, unreadable, failure) = (hasResults, [Int](), SystemError?.none)
        for identifier in stored where !state.withLock({ $0.restoring.created.contains(identifier) }) {
            do throws(SystemError) {
                guard let record = try restorable(identifier) else { continue }
                isResult = isResult || record.stage == .finished
                session.restore(BackgroundTransfer(record, in: self))
            } catch {
                unreadable.append(identifier)
                failure = error
            }
        }
        let (rest, known) = (unreadable, isResult)
        if let failure, waited >= Self.maximumRestoringTime { note(rest.count, failure) }
        guard !rest.isEmpty, waited < Self.maximumRestoringTime else {
            return restored(in: session, hasResults: known)
        }
        let interval = min(max(waited, 20), Self.maximumClaimInterval)
        session.core.work.call(after: .milliseconds(interval)) { [self] in
            guard access == .active else { return }
            restore(rest, in: session, hasResults: known, waited: waited + interval)
        }
    }

    /// Returns the record of a task to restore; `nil` if there is none. `nw transfers` leaves results to the program.
    ///
    /// - Throws: `SystemError` if the record, or the content of a result, cannot be read now.
    private func restorable(_ identifier: Int) throws(SystemError) -> TransferRecord? {
        guard case .record(let record) = try store.stored(identifier) else { return nil }
        guard record.stage == .finished else { return record }
        guard role == .owner else { return nil }
        _ = try store.readableContentSize(identifier)
        return record
    }

    private func note(_ count: Int, _ failure: SystemError) {
        SystemLog.note(
            "cannot read \(count) background transfers in \(store.path): \(failure.message). They stay there for the next "
                + "session of the program. Check the owner and the mode of the files, and the limit of open files.")
    }
}
