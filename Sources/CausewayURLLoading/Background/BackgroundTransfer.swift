internal import CausewayHTTPProtocols
internal import CausewaySystem
internal import Foundation

/// The persistent state of a background task.
///
/// The record is written before the task depends on it, so that another process can continue from the record after a
/// crash.
final class BackgroundTransfer: Sendable {
    /// The response body of an upload.
    struct Body {
        var file: FileSink?
        var count = 0
        /// Whether the file contains only part of the response body. The body was too long, or could not be written.
        var isCut = false
    }

    struct State {
        var record: TransferRecord
        /// The incomplete content from earlier attempts. The response to the next attempt may contain only the rest.
        var resumption: Resumption?
        /// The byte count when the attempt started. If the count is higher later, the attempt has made progress.
        ///
        /// For a download, this is the number of bytes received so far. For an upload, it is the number of bytes that
        /// the server has confirmed.
        var progress: Int64 = 0
        /// Downloaded bytes since the latest synchronization of the file.
        var unsynchronized = 0
        var body = Body()
        /// The request that the delegate supplied in place of the original request when the delayed task started.
        var replacement: URLRequest?
        /// Whether the delegate was already asked about the delayed start.
        var hasAskedAboutDelay = false
        /// Whether the files stay in the store although the task ends, because the result could not be read.
        var keepsFiles = false
    }

    /// The number of bytes after which a download's file is synchronized to disk.
    private static let synchronizationInterval = 16 << 20
    /// The maximum size of a stored upload response in bytes.
    static let maximumBodyCount = 16 << 20

    let session: BackgroundSession
    let identifier: Int
    let state: LockedValue<State>
    /// Whether the transfer has ended. The lock of this value is held while a record is written, so that records are
    /// written in order.
    private let hasEnded = LockedValue(false)
    var store: TransferStore { session.store }

    init(_ record: TransferRecord, in session: BackgroundSession) {
        self.session = session
        identifier = record.identifier
        state = LockedValue(State(record: record))
    }

    var record: TransferRecord { state.withLock { $0.record } }
    var isUpload: Bool { state.withLock { $0.record.uploadPath != nil } }
    /// Whether the results stay in the store, because this session does not deliver them to the program.
    var keepsResults: Bool { session.keepsTasks }
    var replacement: URLRequest? { state.withLock { $0.replacement } }
    var resumption: Resumption? { state.withLock { $0.resumption } }

    /// Changes the record and writes it. Returns whether the write succeeded. Has no effect after the transfer's end.
    @discardableResult
    func update(_ change: (inout TransferRecord) -> Void) -> Bool {
        // Write the file while the lock is held. Otherwise an older record could replace a newer record. A late write
        // could also restore an ended transfer in a store that another process already owns.
        hasEnded.withLock { hasEnded in
            guard !hasEnded else { return false }
            var record = record
            change(&record)
            let changed = record
            state.withLock { $0.record = changed }
            return store.write(changed)
        }
    }

    // MARK: The program

    /// Stores task values that the program has changed.
    func noteOptions(of core: TaskCore) {
        guard record.options != TransferRecord.Options(core.state.withLock { $0.options }) else { return }
        update { $0.options = TransferRecord.Options(core.state.withLock { $0.options }) }
        session.notePriority(of: core)
    }

    /// Stores in the task's record whether the task is suspended now.
    func noteSuspension(of core: TaskCore) {
        let isSuspended = core.state.withLock { $0.life.state == .suspended }
        if isSuspended != record.isSuspended {
            update { record in
                // Several threads can suspend and resume the task. So read the state again here, under the lock that
                // determines the order of the writes.
                record.isSuspended = core.state.withLock { $0.life.state == .suspended }
                if !record.isSuspended, record.started == nil { record.started = Date().timeIntervalSince1970 }
            }
        }
        session.noteSuspension(of: core)
    }

    /// The remaining seconds until the resource timeout expires.
    func remaining(of limit: TimeInterval) -> TimeInterval {
        guard limit > 0, let started = record.started else { return limit }
        // If the clock was set back, `started` can be in the future. The elapsed time is then 0.
        let elapsed = max(Date().timeIntervalSince1970 - started, 0)
        return max(limit - elapsed, 0.001)
    }

    /// Returns whether to ask the delegate about a delayed start. Returns `true` at most once.
    func takeDelayedStart() -> Bool {
        state.withLock { state in
            guard state.record.options.earliestBegin != nil, state.record.stage == .created else { return false }
            defer { state.hasAskedAboutDelay = true }
            return !state.hasAskedAboutDelay
        }
    }

    // MARK: Attempts

    /// Replaces the request that the next attempt sends.
    func replace(_ request: URLRequest) {
        state.withLock { $0.replacement = request }
        if TransferRecord.supports(request.url) { update { $0.request = ArchivedRequest(request.values) } }
    }

    /// Begins an attempt. Decides from the stored content where the attempt continues.
    ///
    /// - Parameter moved: The number of bytes downloaded so far.
    func beginAttempt(moved: Int64) {
        if record.stage == .created { update { $0.stage = .begun } }
        // A killed process may have left a partly stored response to this upload. Remove it.
        guard !isUpload else { return store.removeContent(identifier) }
        let recovery = TransferRecovery(facts)
        let record = record
        let made: Resumption? =
            if case .resume(let offset) = recovery, let validator = record.content.validator {
                Resumption(offset: offset, validator: validator, file: store.contentURL(identifier))
            } else {
                nil
            }
        state.withLock { state in
            state.resumption = made
            state.progress = made?.offset ?? moved
        }
    }

    /// How a new process can continue the transfer.
    var recovery: TransferRecovery { TransferRecovery(facts) }

    private var facts: TransferRecovery.Facts {
        let record = record
        return TransferRecovery.Facts(
            stage: record.stage, size: store.contentSize(identifier), total: record.content.total,
            durable: record.content.durable,
            isSameBoot: record.content.boot != nil && record.content.boot == BootIdentifier.current,
            hasValidator: record.content.validator != nil)
    }

    /// Returns whether the download has received new content, and whether the next attempt can continue after this
    /// content.
    func hasProgressed(_ moved: Int64) -> Bool {
        state.withLock { $0.record.content.validator != nil && moved > $0.progress }
    }

    /// Returns whether the server has confirmed more upload bytes since the previous call.
    func hasProgressed(_ upload: ResumableUpload?) -> Bool {
        guard let upload, upload.resource != nil else { return false }
        return state.withLock { state in
            defer { state.progress = max(state.progress, upload.offset) }
            return upload.offset > state.progress
        }
    }

    /// Returns resume data if the download ends between two attempts; `nil` if it cannot be resumed.
    func resumeData(for request: URLRequest) -> Data? {
        guard !isUpload, case .resume(let offset) = recovery, let validator = record.content.validator else {
            return nil
        }
        let place = FileSink.newURL()
        guard (try? FileManager.default.moveItem(at: store.contentURL(identifier), to: place)) != nil else {
            return nil
        }
        return ResumeData(request, validator: validator, received: offset, file: place).encoded
    }

    /// Stores how much of an upload the server has confirmed.
    func note(_ upload: ResumableUpload, of request: URLRequest, _ source: TaskPlan.Source) {
        guard let data = UploadResumeData(request, source, upload)?.encoded, data != record.uploadState else { return }
        update { $0.uploadState = data }
    }

    /// The stored state of a resumable upload. `nil` if the upload must start over.
    var upload: ResumableUpload? { record.uploadState.flatMap { UploadResumeData($0) }?.upload }

    // MARK: The content of a download

    /// Creates the file for a full response. The old content is removed first, so that the new validator is never
    /// stored with old content.
    func newFile(for response: URLResponse?, of request: URLRequest?, _ current: URLRequest?) throws(LoadFailure)
        -> FileSink
    {
        let url = store.contentURL(identifier)
        store.removeContent(identifier)
        var content = TransferRecord.Content()
        content.boot = BootIdentifier.current
        if let request, let response = response as? HTTPURLResponse {
            content.total = response.expectedContentLength < 0 ? nil : response.expectedContentLength
            content.validator = ResumeData(request, current, response, received: 1, file: url)?.validator
        }
        state.withLock { state in
            state.resumption = nil
            state.unsynchronized = 0
        }
        guard update({ $0.content = content }) else { throw LoadFailure(.fileNotWritten) }
        return try FileSink(new: url)
    }

    /// Continues a cancelled download with its resume data, and moves its partial file to this transfer. If the file
    /// cannot be used, the transfer starts over.
    func takeOver(_ resumption: Resumption) {
        // Open the file, which also locks it. Opening fails if another download is using the file. The transfer then
        // starts over.
        guard let file = FileSink(continuing: resumption.file, at: resumption.offset) else { return }
        let moved: Void? = try? FileManager.default.moveItem(at: resumption.file, to: store.contentURL(identifier))
        try? file.close()
        guard moved != nil else { return }
        update { record in
            record.content.validator = resumption.validator
            record.content.boot = BootIdentifier.current
        }
    }

    /// Stores the total content length of a download that continues.
    func note(total: Int64) {
        if record.content.total != total { update { $0.content.total = total } }
    }

    /// Synchronizes the file to disk periodically, so that a system crash loses little content.
    ///
    /// - Throws: ``LoadFailure`` if the content could not be written to the disk. The kernel reports this once: a later
    ///   synchronization would succeed although content is lost.
    func wrote(_ count: Int, total: Int64, to file: FileSink) throws(LoadFailure) {
        let isDue = state.withLock { state in
            state.unsynchronized += count
            guard state.unsynchronized >= Self.synchronizationInterval else { return false }
            state.unsynchronized = 0
            return true
        }
        guard isDue else { return }
        guard file.synchronize() else { throw LoadFailure(.fileNotWritten) }
        update { record in
            record.content.durable = total
            record.content.boot = BootIdentifier.current
        }
    }

    /// Leaves the files in the store for the program's next session, because the result cannot be read now.
    func keepFiles() { state.withLock { $0.keepsFiles = true } }

    /// Ends the transfer after its task has completed. Removes the transfer's files, with three exceptions: `nw
    /// transfers` keeps all files, a session that leaves its tasks in the store keeps the files of cancelled tasks, and
    /// a result that could not be read stays.
    func ended(isCancelled: Bool) {
        hasEnded.withLock { hasEnded in
            hasEnded = true
            // Remove the files while the lock is held, so that no record is written after that.
            let keepsFiles = state.withLock { $0.keepsFiles } && !isCancelled
            if !keepsFiles, !session.keepsTask(isCancelled: isCancelled) { session.forget(identifier) }
        }
        session.remove(identifier)
    }
}
