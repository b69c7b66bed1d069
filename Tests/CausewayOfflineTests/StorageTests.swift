@testable import CausewayClient
@testable import CausewayOffline
import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

@Suite("Offline engine: storage")
struct StorageTests {
    private static func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test("Only the user can access the directory and its files; a second engine is refused")
    func access() async throws {
        let bench = try Bench()
        let engine = try await bench.open()
        try await engine.enqueue(post("a", String(repeating: "x", count: 20_000)))
        #expect(try Self.mode(bench.directory.path) == 0o700)
        for name in try FileManager.default.contentsOfDirectory(atPath: bench.directory.path) {
            #expect(try Self.mode(bench.directory.path + "/" + name) == 0o600, "\(name)")
        }
        #expect(await code { _ = try await bench.open() } == .inUse)
        _ = engine
    }

    @Test("A symbolic link, a file, and a directory of others are refused with the reason")
    func refused() async throws {
        let bench = try Bench()
        let manager = FileManager.default
        let place = bench.directory.path
        let other = place + "-other"
        try manager.createDirectory(atPath: other, withIntermediateDirectories: true)
        defer { try? manager.removeItem(atPath: other) }
        try manager.createSymbolicLink(atPath: place, withDestinationPath: other)
        #expect(await code { _ = try await bench.open() } == .storage)
        try manager.removeItem(atPath: place)
        try Data("x".utf8).write(to: bench.directory)
        #expect(await code { _ = try await bench.open() } == .storage)
        try manager.removeItem(atPath: place)
        try manager.createDirectory(atPath: place, withIntermediateDirectories: true)
        try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place)
        await #expect {
            _ = try await bench.open()
        } throws: { error in
            (error as? OfflineError)?.description.contains(place) == true
        }
        try manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: place)
        try manager.createSymbolicLink(atPath: place + "/journal", withDestinationPath: other + "/elsewhere")
        #expect(await code { _ = try await bench.open() } == .storage)
        #expect(!manager.fileExists(atPath: other + "/elsewhere"))
    }

    @Test(
        "A lock or a journal that cannot be opened is named, and is not taken for one in use",
        arguments: ["lock", "journal"])
    func unusableFile(_ name: String) async throws {
        let bench = try Bench()
        let path = bench.directory.path
        try FileManager.default.createDirectory(atPath: path + "/" + name, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        await #expect {
            _ = try await bench.open()
        } throws: { error in
            let error = error as? OfflineError
            return error?.code == .storage && error?.message.contains("\(path)/\(name): open: Is a directory") == true
        }
    }

    @Test("A torn end of the journal is cut off; damage is kept in a copy; a foreign journal is not touched")
    func damage() async throws {
        let bench = try Bench()
        let journal = bench.directory.appendingPathComponent("journal")
        func queue(_ count: Int) async throws {
            let engine = try await bench.open()
            for number in 0..<count { try await engine.enqueue(post("\(number)", method: "PUT")) }
        }
        try await queue(3)
        try await bench.untilFree()
        try (Data(contentsOf: journal).dropLast(5)).write(to: journal)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: journal.path)
        var engine: OfflineEngine? = try await bench.open()
        #expect(engine?.operations.count == 2 && engine?.recovery.tornByteCount ?? 0 > 0)
        engine = nil
        try await bench.untilFree()
        var bytes = try Data(contentsOf: journal)
        bytes[bytes.count / 2] ^= 0xFF
        try bytes.write(to: journal)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: journal.path)
        engine = try await bench.open()
        let recovery = try #require(engine?.recovery)
        #expect(recovery.damagedByteCount + recovery.tornByteCount > 0)
        engine = nil
        try await bench.untilFree()
        try Data("not a journal".utf8).write(to: journal)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: journal.path)
        #expect(await code { _ = try await bench.open() } == .foreignJournal)
        #expect(try Data(contentsOf: journal) == Data("not a journal".utf8))
    }

    @Test("Files are copied, or referenced and checked; large contents have files, which are removed at the end")
    func files() async throws {
        let bench = try Bench()
        let file = bench.directory.appendingPathExtension("input")
        try Data("one".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let engine = try await bench.open { $0.limits.contentByteCount = 30_000 }
        var request = ClientRequest("PUT", "copied")
        request.body = .file(file, contentType: "text/plain")
        try await engine.enqueue(request)
        var options = OfflineOptions()
        options.fileHandling = .reference
        try await engine.enqueue(request, options: options)
        try await engine.enqueue(post("large", String(repeating: "x", count: 30_000)))
        #expect(await code { try await engine.enqueue(post("l", String(repeating: "x", count: 30_001))) } == .full)
        #expect(bench.contents.count == 2)
        try Data("changed".utf8).write(to: file)
        try await bench.drain(engine)
        #expect(bench.arrivals.map(\.content) == ["one", "30000 bytes"] && bench.contents.isEmpty)
        guard case .invalid(let reason) = engine.reports.first?.outcome else {
            Issue.record("no report")
            return
        }
        #expect(reason.hasSuffix("has changed"))
        request.body = .file(URL(filePath: "/nowhere"))
        #expect(await code { try await engine.enqueue(request) } == .storage)
    }

    @Test("A form is stored with its boundary")
    func form() async throws {
        let bench = try Bench()
        var form = MultipartForm()
        form.append("Ann", name: "author")
        var request = ClientRequest("POST", "form")
        request.body = .multipart(form)
        try await bench.open().enqueue(request)
        try await bench.untilFree()
        let engine = try await bench.open()
        try await bench.drain(engine)
        #expect(
            bench.arrivals.first?.content.hasSuffix("bytes") == true
                || bench.arrivals.first?.content.contains("Ann") == true)
    }

    private static func engine(_ bench: Bench, _ medium: FaultyMedium) throws -> OfflineEngine {
        let content = Journal.read(medium.journal)
        var configuration = OfflineEngine.Configuration()
        configuration.policy.expiry.maximumAge = nil
        return try OfflineEngine(
            client: bench.client, configuration: configuration, content: content, medium: medium,
            tornByteCount: 0, clocks: bench.clocks)
    }

    @Test(
        "A full disk refuses new operations with a clear error, and loses none of the others",
        arguments: ["write", "fdatasync"])
    func full(_ call: String) async throws {
        let (bench, medium) = (try Bench(), FaultyMedium())
        let engine = try Self.engine(bench, medium)
        let first = try await engine.enqueue(post("a"))
        medium.fail([call, "replace", "store"])
        await #expect {
            try await engine.enqueue(post("b"))
        } throws: { error in
            (error as? OfflineError)?.message.contains("No space left") == true
        }
        #expect(
            await code { try await engine.enqueue(post("large", String(repeating: "x", count: 20_000))) } == .storage)
        #expect(engine.operations.map(\.id) == [first])
        // The engine cannot store the record of the attempt. So it must not send the request.
        let running = Task { try await engine.run() }
        for _ in 0..<200 {
            await Task.yield()
            bench.clock.advanceToNextDeadline()
        }
        #expect(bench.arrivals.isEmpty && engine.operations.count == 1)
        medium.fail([])
        while !engine.operations.isEmpty {
            await Task.yield()
            bench.clock.advanceToNextDeadline()
        }
        running.cancel()
        try await running.value
        #expect(bench.arrivals.count == 1)
        let again = try Self.engine(bench, medium)
        #expect(again.operations.isEmpty && again.reports.isEmpty)
    }

    @Test("A record that was given up is reported to its submitter, also if another caller retries before it waits")
    func givenUp() async throws {
        let medium = FaultyMedium()
        medium.fail(["write"])
        let writer = JournalWriter(medium, slack: 1_000)
        let number = writer.submit([1, 2, 3], givingUp: 7)
        while writer.failure == nil { await Task.yield() }
        // The journal has no unwritten record left, so the retry writes nothing. The earlier failure therefore stays.
        try await writer.retry()
        #expect(writer.failure != nil)
        let full = SystemError(errno: 28, call: "write")
        await #expect(throws: full) { try await writer.wait(for: number) }
        let must = writer.submit([4], givingUp: nil)
        await #expect(throws: full) { try await writer.wait(for: must) }
        await #expect(throws: full) { try await writer.retry() }
        medium.fail([])
        try await writer.retry()
        try await writer.wait(for: must)
        #expect(writer.failure == nil && medium.journal == [4])
    }

    @Test("Records that a new journal already contains are not written again if its name may not be on disk")
    func unconfirmedJournal() async throws {
        let medium = FaultyMedium()
        let writer = JournalWriter(medium, slack: 0)
        writer.connect(
            { [weak writer] in
                guard let writer else { return nil }
                return ([[UInt8](repeating: 7, count: Int(writer.last))], writer.last)
            }, givingUp: { _ in })
        try await writer.wait(for: writer.submit([1], givingUp: nil))
        #expect(medium.journal == [1])
        // The journal is now too long. It is replaced before the next record is written.
        medium.fail(["fsync"])
        let number = writer.submit([2], givingUp: nil)
        await #expect(throws: SystemError(errno: 28, call: "fsync")) { try await writer.wait(for: number) }
        #expect(medium.journal == [7, 7])
        medium.fail([])
        try await writer.wait(for: number)
        #expect(medium.journal == [7, 7] && writer.failure == nil)
    }

    @Test("A queue whose new journal may not be on disk is not opened, and keeps its operations")
    func unconfirmedStart() async throws {
        let (bench, medium) = (try Bench(), FaultyMedium())
        let id = try await Self.engine(bench, medium).enqueue(post("a"))
        medium.fail(["fsync"])
        #expect(await code { _ = try Self.engine(bench, medium) } == .storage)
        medium.fail([])
        #expect(try Self.engine(bench, medium).operations.map(\.id) == [id])
    }

    @Test("The content of a new request that the queue did not take is removed")
    func refusedEdit() async throws {
        let (bench, medium) = (try Bench(), FaultyMedium())
        let engine = try Self.engine(bench, medium)
        let (a, b) = (try await engine.enqueue(post("a")), try await engine.enqueue(post("b")))
        let large = String(repeating: "x", count: 20_000)
        medium.fail(["write", "replace"])
        #expect(await code { try await engine.cancel(a) } == .storage)
        #expect(await code { try await engine.edit(b, post("refused", large)) } == .storage)
        #expect(medium.contentCount == 0)
        medium.fail([])
        try await engine.edit(b, post("stored", large))
        #expect(medium.contentCount == 1)
        // This change is effective immediately, but it cannot be stored yet. Until it is stored, the old and the new
        // content both stay on the disk.
        medium.fail(["write", "replace"])
        #expect(await code { try await engine.edit(b, post("pending", large)) } == .storage)
        #expect(medium.contentCount == 2 && engine.operations.map(\.contentByteCount) == [20_000])
    }

    @Test("A result that cannot be stored is stored later; until then the end is not told")
    func result() async throws {
        let medium = FaultyMedium()
        let bench = try Bench { _, _ in
            medium.fail(["write", "replace"])
            return try answer()
        }
        let engine = try Self.engine(bench, medium)
        let id = try await engine.enqueue(post("a"))
        let running = Task { try await engine.run() }
        while engine.writer.failure == nil { await Task.yield() }
        let waiting = Task { try await engine.result(of: id).outcome }
        // Simulate a process that starts now from the stored files. It cannot know whether the operation was sent, so
        // its outcome is unknown.
        #expect(try Self.engine(bench, Self.copy(medium)).reports.map(\.outcome) == [.unknown])
        medium.fail([])
        while engine.writer.failure != nil {
            await Task.yield()
            bench.clock.advanceToNextDeadline()
        }
        #expect(try await waiting.value == .succeeded(status: 200))
        running.cancel()
        try await running.value
        #expect(try Self.engine(bench, Self.copy(medium)).reports.isEmpty)
    }

    private static func copy(_ medium: FaultyMedium) throws -> FaultyMedium {
        let other = FaultyMedium()
        try other.append(medium.journal)
        return other
    }

    @Test("The journal stays short, however many operations pass")
    func compaction() async throws {
        let bench = try Bench()
        let engine = try await bench.open { $0.journalSlack = 2_000 }
        let kept = try await engine.enqueue(post("kept"), options: OfflineOptions(lane: "kept"))
        for number in 0..<60 {
            let id = try await engine.enqueue(post("\(number)", String(repeating: "x", count: 500)))
            try await engine.cancel(id)
            try await engine.acknowledge(id)
        }
        let size = try #require(
            FileManager.default.attributesOfItem(atPath: bench.directory.path + "/journal")[.size] as? Int)
        #expect(size < 8_000 && engine.operations.map(\.id) == [kept])
    }
}
