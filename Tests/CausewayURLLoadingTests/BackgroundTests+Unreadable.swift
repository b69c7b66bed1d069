import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

/// Stores with files and directories that cannot be read for some time.
extension BackgroundTests {
    @Test("A directory that cannot be read is listed with the reason, and not taken for an empty one")
    func unreadableDirectories() throws {
        let (root, files) = (directory.path, FileManager.default)
        #expect(BackgroundTransfers(root: root + "/none").sessions().isEmpty)
        try files.createDirectory(
            atPath: root + "/program/shared", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755])
        // A stray file is no session.
        for path in ["/file", "/program/file"] { #expect(files.createFile(atPath: root + path, contents: nil)) }
        let found = try #require(BackgroundTransfers(root: root).sessions().first)
        #expect(BackgroundTransfers(root: root).sessions().count == 1)
        #expect(!found.isReadable && found.program == "program" && found.identifier == "shared")
        #expect(found.problem == "cannot read \(root)/program/shared: open: Operation not permitted")
        let transfers = BackgroundTransfers(root: root + "/file")
        let all = try #require(transfers.sessions().first)
        #expect(all.problem == "cannot read \(root)/file: open: Not a directory" && all.identifier.isEmpty)
        #expect(!transfers.remove(all))
    }

    @Test("A record that cannot be read at first is restored later, and its identifier is not used again")
    func unreadableRecord() async throws {
        #expect(try store().write(record(5)))
        let session: URLSession
        do {
            let file = try UnreadableFile(directory.path + "/task-5")
            #expect(throws: SystemError.self) { try store().stored(5) }
            session = self.session(nil)
            #expect(session.downloadTask(with: url).taskIdentifier == 6)
            _ = consume file
        }
        #expect(await session.allTasks.map(\.taskIdentifier) == [5, 6])
        session.invalidateAndCancel()
    }

    @Test("A result that cannot be read at first is delivered later")
    func unreadableResult() async throws {
        try storeResult(1, "one")
        let calls = Calls()
        let session: URLSession
        do {
            let file = try UnreadableFile(store().contentURL(1).path)
            session = self.session(calls)
            #expect(calls.list.withLock { $0.isEmpty })
            _ = consume file
        }
        await calls.wait(for: 2)
        #expect(calls.list.withLock { $0 } == ["file 1 201 one", "end 1 0", "events"])
        session.invalidateAndCancel()
    }

    @Test("Damaged, missing and unreadable records and settings are three different things")
    func stored() throws {
        let (store, place) = (try store(), directory.path)
        #expect(store.write(record(1)))
        try Data("damage".utf8).write(to: URL(fileURLWithPath: place + "/task-2"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: place + "/task-2")
        guard case .record = try store.stored(1), case .damaged = try store.stored(2),
            case .missing = try store.stored(3)
        else {
            Issue.record("another state")
            return
        }
        #expect(try store.settings() == nil)
        store.write(SessionRecord(settings, program: "p"))
        let file = try UnreadableFile(place + "/session")
        #expect(throws: SystemError.self) { try store.settings() }
        #expect(throws: SystemError.self) { try BackgroundSession(store, settings, role: .owner, program: "p") }
        _ = consume file
        _ = try BackgroundSession(store, settings, role: .owner, program: "p")
    }

    @Test("A result that could not be delivered stays in the store, unless the program cancels its task")
    func keptResult() throws {
        let session = session(nil)
        defer { session.invalidateAndCancel() }
        for isCancelled in [false, true] {
            let task = session.downloadTask(with: url)
            let transfer = try #require(task.core?.plan.transfer)
            transfer.keepFiles()
            transfer.ended(isCancelled: isCancelled)
            #expect(try (store().record(task.taskIdentifier) == nil) == isCancelled)
        }
    }

    /// Returns a download's task and its file, whose content cannot be written to the disk any more.
    private func spoiledDownload(in session: URLSession) throws -> (core: TaskCore, file: FileSink) {
        let core = try #require(session.downloadTask(with: url).core)
        let request = URLRequest(url: url)
        let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil)
        let file = try #require(core.plan.transfer).newFile(for: response, of: request, request)
        OpenDescriptors.spoil(file.url.path)
        #expect(!file.synchronize())
        return (core, file)
    }

    @Test("A download whose content cannot be written to the disk fails, also if this is noticed only at its end")
    func unwrittenDownload() async throws {
        let calls = Calls()
        let session = session(calls)
        let (core, file) = try spoiledDownload(in: session)
        core.state.withLock { $0.content.file = file }
        core.finishDownload(nil)
        await calls.wait(for: 1)
        #expect(calls.list.withLock { $0 } == ["end 1 -3003"])
        // The task leaves the store after the delegate's call, and the session ends after that.
        session.finishTasksAndInvalidate()
        await calls.wait(for: 1)
        #expect(try store().identifiers == [] && store().contentSize(1) == nil)
    }

    @Test("A download whose content cannot be written to the disk fails at the next synchronization")
    func unwrittenPart() throws {
        let session = session(nil)
        defer { session.invalidateAndCancel() }
        let (core, file) = try spoiledDownload(in: session)
        let transfer = try #require(core.plan.transfer)
        try transfer.wrote(1, total: 1, to: file)
        #expect(throws: LoadFailure.self) { try transfer.wrote(16 << 20, total: 16 << 20, to: file) }
        #expect(transfer.record.content.durable == 0)
    }
}
