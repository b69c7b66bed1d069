import CausewaySystem
import Dispatch
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("The machines of a task (§3, §4)")
struct TaskMachineTests {
    @Test("Suspensions nest, and further resumes have no effect")
    func suspensions() {
        var life = TaskLife()
        #expect(life.state == .suspended && !life.isListed)
        #expect(life.resume() == .begin)
        #expect(life.isListed)
        #expect(life.begin() == true)
        #expect(life.begin() == false)
        #expect(life.state == .running)
        #expect(life.resume() == .none)
        #expect(life.suspend() == true)
        #expect(life.suspend() == false)
        #expect(life.resume() == .none)
        #expect(life.state == .suspended && life.isListed)
        #expect(life.resume() == .goOn)
        #expect(life.state == .running)
    }

    @Test("A task that is suspended before it begins does not begin")
    func suspendedBeforeBegin() {
        var life = TaskLife()
        #expect(life.resume() == .begin)
        #expect(life.suspend() == true)
        #expect(life.begin() == false)
        #expect(life.resume() == .begin)
        #expect(life.begin() == true)
    }

    @Test("After the end nothing has an effect")
    func ends() {
        var life = TaskLife()
        _ = life.resume()
        #expect(life.cancel() == true && !life.isListed)
        #expect(life.cancel() == false)
        #expect(life.state == .canceling)
        #expect(life.complete() == true)
        #expect(life.complete() == false)
        #expect(life.resume() == .none)
        #expect(life.suspend() == false)
        #expect(life.cancel() == false)
        #expect(life.state == .completed)
    }

    @Test("One thread drains; a hold stops it, and its answer comes first")
    func mailbox() {
        var mailbox = Mailbox<Int>()
        #expect(mailbox.post(1) == true)
        #expect(mailbox.post(2) == false)
        #expect(mailbox.next() == 1)
        let hold = mailbox.hold()
        #expect(mailbox.next() == nil)
        #expect(mailbox.post(3) == false)
        #expect(mailbox.release(hold, with: 10) == true)
        #expect(mailbox.release(hold, with: 11) == false)
        #expect(mailbox.next() == 10)
        #expect(mailbox.next() == 2)
        #expect(mailbox.next() == 3)
        #expect(mailbox.next() == nil)
    }

    @Test("A thread that has claimed the mailbox can leave the messages that came meanwhile to another thread")
    func endedClaim() {
        var mailbox = Mailbox<Int>()
        #expect(mailbox.claimIfIdle() == true)
        #expect(mailbox.endClaim() == false)
        #expect(mailbox.claimIfIdle() == true)
        #expect(mailbox.post(1) == false)
        #expect(mailbox.endClaim() == true)
        #expect(mailbox.post(2) == false)
        #expect(mailbox.next() == 1)
        #expect(mailbox.next() == 2)
        #expect(mailbox.next() == nil)
    }

    @Test("A release while the thread still drains needs no other thread")
    func earlyRelease() {
        var mailbox = Mailbox<Int>()
        #expect(mailbox.post(1) == true)
        #expect(mailbox.next() == 1)
        let hold = mailbox.hold()
        #expect(mailbox.release(hold, with: 2) == false)
        #expect(mailbox.next() == 2)
        #expect(mailbox.next() == nil)
    }

    @Test("An interruption drops messages and ends the hold")
    func interruption() {
        var mailbox = Mailbox<Int>()
        _ = mailbox.post(1)
        _ = mailbox.next()
        let hold = mailbox.hold()
        _ = mailbox.next()
        _ = mailbox.post(2)
        #expect(mailbox.interrupt(with: 9) == true)
        #expect(mailbox.release(hold, with: 3) == false)
        #expect(mailbox.next() == 9)
        #expect(mailbox.next() == nil)
    }

    @Test("The idle timeout moves with activity and stands still in a pause; the other one does not")
    func clock() {
        var clock = TaskClock(idle: 0.5)
        #expect(clock.deadline == nil)
        clock.begin(at: .seconds(10), resourceLimit: 3)
        #expect(clock.deadline == .seconds(10.5))
        clock.noteActivity(at: .seconds(11))
        #expect(clock.deadline == .seconds(11.5))
        clock.pause(for: .suspension)
        clock.pause(for: .waiting)
        #expect(clock.deadline == .seconds(13))
        clock.goOn(after: .suspension, at: .seconds(11))
        #expect(clock.deadline == .seconds(13))
        clock.goOn(after: .waiting, at: .seconds(12))
        #expect(clock.deadline == .seconds(12.5))
        clock.end()
        #expect(clock.deadline == nil)
    }

    @Test("The idle timeout does not run while as much content as fits waits for the program")
    func fullBuffer() {
        var state = TaskState(clock: TaskClock(idle: 0.5))
        state.clock.begin(at: .seconds(10), resourceLimit: 3)
        state.counts.pending = TaskCore.maximumPending
        #expect(state.deadline == .seconds(13))
        state.counts.pending -= 1
        #expect(state.deadline == .seconds(10.5))
    }

    @Test("Content for the cache grows in place, up to the limit")
    func contentForCache() {
        var content = TaskState.Content()
        (content.forCache, content.cacheLimit) = (Data(), 65_536)
        var (moves, last) = (0, nil as UInt?)
        for _ in 0..<1_024 {
            content.keepForCache(Data(repeating: 1, count: 64))
            let address = content.forCache?.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            if address != last { moves += 1 }
            last = address
        }
        // If each new piece moved the stored content, the time would grow with the square of the length.
        #expect(moves < 200 && content.forCache?.count == 65_536)
        content.keepForCache(Data([1]))
        #expect(content.forCache == nil)
    }

    @Test(
        "The limit of the request counts, unless it is the default",
        arguments: [(60.0, 5.0, 5.0), (7, 5, 7), (60, 0, 60)])
    func limit(request: Double, session: Double, expected: Double) {
        #expect(TaskClock.idleLimit(request: request, session: session) == expected)
    }

    @Test("A task without a file begins on the thread that resumes it, another one on the queue of the session")
    func beginning() throws {
        let session = URLSession(configuration: .unhurried)
        session.core.work.suspend()
        defer {
            session.core.work.resume()
            session.invalidateAndCancel()
        }
        let url = try #require(URL(string: "data:,a"))
        let tasks: [URLSessionTask] = [
            session.dataTask(with: url),
            session.uploadTask(with: URLRequest(url: url), fromFile: URL(fileURLWithPath: "/")),
        ]
        for task in tasks { task.resume() }
        let haveBegun = tasks.map { task in
            task.core?.state.withLock { $0.clock.resourceDeadline != nil || $0.outcome.hasEnded }
        }
        #expect(haveBegun == [true, false])
    }

    @Test("A download that begins on the thread that resumes it writes no file on this thread")
    func beginningOfDownload() throws {
        let session = URLSession(configuration: .unhurried)
        session.core.work.suspend()
        defer {
            session.core.work.resume()
            session.invalidateAndCancel()
        }
        let task = session.downloadTask(with: try #require(URL(string: "data:,a")))
        let core = try #require(task.core)
        task.resume()
        let (hasBegun, hasFile) = core.state.withLock { ($0.clock.resourceDeadline != nil, $0.content.file != nil) }
        #expect(hasBegun && !hasFile)
    }

    @Test("Observers see one start of a task that is suspended and resumed before it begins")
    func observedOnce() throws {
        let observer = StartCounter()
        let configuration = URLSessionConfiguration.unhurried
        configuration.taskObservers = [observer]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: try #require(URL(string: "data:,a")))
        // Put the task on hold, so that it does not begin.
        _ = try #require(task.core).hold()
        task.resume()
        task.suspend()
        task.resume()
        let count = observer.count.withLock { $0 }
        #expect(count == 1)
    }

    @Test("A suspension before the task begins, or while it waits for a network, does not change the idle timeout")
    func idleAfterSuspension() throws {
        let session = URLSession(configuration: .unhurried)
        defer { session.invalidateAndCancel() }
        let early = session.dataTask(with: try #require(URL(string: "data:,a")))
        let core = try #require(early.core)
        // Messages of this task are held back. So the task does not begin, even after `resume()`.
        _ = core.hold()
        early.resume()
        early.suspend()
        early.resume()
        let begun = core.state.withLock { state in
            state.clock.begin(at: MonotonicTime.now, resourceLimit: 0)
            state.clock.goOn(after: .question, at: MonotonicTime.now)
            return state.clock.deadline
        }
        #expect(begun != nil)

        let (waiting, attempt) = try Self.loading(in: session)
        waiting.state.withLock { $0.clock.begin(at: MonotonicTime.now, resourceLimit: 0) }
        let deadline: @Sendable () -> Duration? = { waiting.state.withLock { $0.clock.deadline } }
        attempt.report(.waiting)
        waiting.suspend()
        waiting.resume()
        #expect(deadline() == nil)
        waiting.suspend()
        attempt.report(.continues)
        #expect(deadline() == nil)
        waiting.resume()
        #expect(deadline() != nil)
    }

    @Test("A loader may deliver content while the task runs and less than 64 KiB wait for the program")
    func demand() throws {
        let session = URLSession(configuration: .unhurried)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: try #require(URL(string: "data:,a")))
        let core = try #require(task.core)
        #expect(!core.wantsBytes)
        // From here on, the task counts as resumed, although it loads nothing.
        core.state.withLock { state in
            _ = state.life.resume()
            state.counts.pending = 65_535
        }
        #expect(core.wantsBytes)
        core.state.withLock { $0.counts.pending += 1 }
        #expect(!core.wantsBytes)
        core.took(1)
        #expect(core.wantsBytes)
        task.suspend()
        #expect(!core.wantsBytes)
    }

    @Test("Responses that wait for the program count as content, so parts without content do not fill the memory")
    func waitingResponses() async throws {
        let session = URLSession(configuration: .unhurried)
        defer { session.invalidateAndCancel() }
        let (core, attempt) = try Self.loading(in: session)
        let url = try #require(core.originalRequest?.url)
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
        let hold = core.hold()
        for _ in 0..<127 { attempt.report(.response(response, .notAllowed)) }
        #expect(core.wantsBytes)
        attempt.report(.response(response, .notAllowed))
        #expect(!core.wantsBytes)
        core.release(hold) {}
        await withCheckedContinuation { continuation in
            session.core.work.async(flags: .barrier) { continuation.resume() }
        }
        #expect(core.wantsBytes)
    }

    @Test(
        "A download writes content on the queue of the session; that of a class of the program on the reporting thread",
        arguments: [false, true])
    func writing(isFromProgram: Bool) async throws {
        let session = URLSession(configuration: .unhurried)
        defer { session.invalidateAndCancel() }
        let request = URLRequest(url: try #require(URL(string: "data:,a")))
        let core = try #require(session.downloadTask(with: request).core)
        let attempt = Self.attempt(of: core, request, isFromProgram: isFromProgram)
        let response = URLResponse(
            url: try #require(request.url), mimeType: nil, expectedContentLength: 3, textEncodingName: nil)
        session.core.work.suspend()
        attempt.report(.response(response, .notAllowed))
        attempt.report(.data(Data("abc".utf8)))
        let (early, pending) = core.state.withLock { ($0.content.file, $0.counts.pending) }
        session.core.work.resume()
        #expect((early != nil) == isFromProgram && pending == (isFromProgram ? 0 : TaskCore.responseCost + 3))
        await withCheckedContinuation { continuation in
            session.core.work.async(flags: .barrier) { continuation.resume() }
        }
        let (late, rest) = core.state.withLock { ($0.content.file, $0.counts.pending) }
        let file = try #require(late)
        #expect(try Data(contentsOf: file.url) == Data("abc".utf8) && rest == 0)
    }

    @Test("Events of an attempt that the task has left are ignored")
    func otherAttempts() throws {
        let session = URLSession(configuration: .unhurried)
        defer { session.invalidateAndCancel() }
        let request = URLRequest(url: try #require(URL(string: "data:,a")))
        let task = session.dataTask(with: request)
        let core = try #require(task.core)
        let old = LoadAttempt(request: request, task: core)
        let current = LoadAttempt(request: request, task: core)
        core.state.withLock { state in
            _ = state.life.resume()
            state.load.attempt = current
        }
        old.report(.data(Data("other".utf8)))
        old.report(.failed(LoadFailure(.connectionLost)))
        #expect(task.countOfBytesReceived == 0 && task.state == .running)
        current.report(.data(Data("own".utf8)))
        #expect(task.countOfBytesReceived == 3)
    }

    @Test("An event that is reported while a download takes over the load reaches the download")
    func takenOver() throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let session = URLSession(configuration: .unhurried, delegate: nil, delegateQueue: queue)
        defer {
            session.invalidateAndCancel()
            queue.isSuspended = false
        }
        let (core, attempt) = try Self.loading(in: session)
        core.becomeDownload()
        // The loader had looked up the data task before the download task replaced it. It therefore delivers this
        // content to the data task.
        core.receive(.data(Data("late".utf8)), from: attempt)
        let download = try #require(session.core.cores.first(where: { $0 !== core }))
        let pending = download.state.withLock { $0.counts.pending }
        #expect(attempt.task === download && pending == 4)
    }

    @Test("A download that is cancelled before it continues a load makes no file")
    func cancelledBeforeFile() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let session = URLSession(configuration: .unhurried, delegate: nil, delegateQueue: queue)
        defer { session.invalidateAndCancel() }
        let (core, _) = try Self.loading(in: session)
        core.becomeDownload()
        let download = try #require(session.core.cores.first(where: { $0 !== core }))
        download.cancel()
        // Wait until the end of the task is handled. Only then does the download continue.
        await withCheckedContinuation { continuation in
            session.core.work.async(flags: .barrier) { continuation.resume() }
        }
        queue.isSuspended = false
        await withCheckedContinuation { continuation in queue.addOperation { continuation.resume() } }
        let hasFile = download.state.withLock { $0.content.file != nil }
        #expect(!hasFile)
    }

    @Test("A download that continues a suspended data task is suspended as often, and takes its delegate and priority")
    func takenOverSuspended() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let session = URLSession(configuration: .unhurried, delegate: nil, delegateQueue: queue)
        defer {
            session.invalidateAndCancel()
            queue.isSuspended = false
        }
        let (core, _) = try Self.loading(in: session)
        let (task, recorder) = (try #require(core.task), Recorder())
        task.delegate = recorder
        task.priority = 0.75
        for _ in 0..<2 { task.suspend() }
        core.becomeDownload()
        let download = try #require(session.core.cores.first(where: { $0 !== core })?.task)
        #expect(download.state == .suspended && download.priority == 0.75 && download.delegate === recorder)
        download.resume()
        #expect(download.state == .suspended)
        download.resume()
        #expect(download.state == .running)
        queue.isSuspended = false
        await withCheckedContinuation { continuation in queue.addOperation { continuation.resume() } }
        #expect(recorder.events == ["became download"] && task.delegate == nil)
    }

    /// Returns a data task that is loading, and its current load attempt.
    private static func loading(in session: URLSession) throws -> (TaskCore, LoadAttempt) {
        let request = URLRequest(url: try #require(URL(string: "data:,a")))
        let core = try #require(session.dataTask(with: request).core)
        return (core, attempt(of: core, request))
    }

    /// Makes a task load without a loader, and returns its attempt.
    private static func attempt(
        of core: TaskCore, _ request: URLRequest, isFromProgram: Bool = false
    ) -> LoadAttempt {
        let attempt = LoadAttempt(request: request, task: core, isFromProgram: isFromProgram)
        core.state.withLock { state in
            _ = state.life.resume()
            _ = state.life.begin()
            state.load.attempt = attempt
        }
        return attempt
    }

    @Test("Calls to the program run in order; up to 16 of them share an operation")
    func calls() async {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let calls = CallList(.operations(queue))
        let numbers = LockedValue<[Int]>([])
        for number in 0..<20 { calls.add { numbers.withLock { $0.append(number) } } }
        queue.addOperation { numbers.withLock { $0.append(-1) } }
        await withCheckedContinuation { continuation in
            calls.add { continuation.resume() }
            queue.isSuspended = false
        }
        #expect(numbers.withLock { $0 } == Array(0..<16) + [-1] + Array(16..<20))
    }
}

/// An observer that counts the tasks that are about to start.
private final class StartCounter: URLSessionTaskObserver {
    let count = LockedValue(0)

    func taskWillStart(_ task: URLSessionTask) -> (any URLSessionTaskObservation)? {
        count.withLock { $0 += 1 }
        return nil
    }
}

@Suite("data: URLs (§24, RFC 2397)")
struct DataURLTests {
    @Test(
        "Media type, charset and content",
        arguments: [
            ("data:,123", "123", "text/plain", nil),
            ("data:;charset=utf-8;base64,8J+RqA==", "👨", "text/plain", "utf-8"),
            ("data:text/plain;charset=utf-8,%f0%9f%91%a8", "👨", "text/plain", "utf-8"),
            ("data:application/json;charset=iso-8859-1;key=value,,123", ",123", "application/json", "iso-8859-1"),
            ("data:;charset=utf-8;charset=utf-16;image/png,abc", "abc", "text/plain", "utf-8"),
            ("DATA:a/B,x#fragment", "x", "a/b", nil),
        ] as [(String, String, String, String?)])
    func parses(text: String, content: String, type: String, charset: String?) async throws {
        let url = try #require(URL(string: text))
        let (data, response) = try await URLSession.shared.data(from: url)
        #expect(String(decoding: data, as: UTF8.self) == content)
        #expect(response.mimeType == type && response.textEncodingName == charset)
        #expect(response.url == url && response.expectedContentLength == Int64(data.count))
    }

    @Test(
        "Malformed URLs",
        arguments: [
            "data://blah", "data:%2c123", "data:application_json;charset=iso-8859-%31;key=value,123,",
            "data:appli/cation/json%3bcharset=ISO-8859-1;key=value,,123,", "data:;base64,A", "data:;base64,*&",
        ])
    func refuses(text: String) async throws {
        let url = try #require(URL(string: text))
        await #expect { try await URLSession.shared.data(from: url) } throws: { ($0 as? URLError)?.code == .badURL }
    }
}

@Suite("Text of bytes (§6)")
struct AsyncTextTests {
    /// An asynchronous sequence that returns the given bytes.
    struct Bytes: AsyncSequence {
        var bytes: [UInt8]

        struct AsyncIterator: AsyncIteratorProtocol {
            var rest: ArraySlice<UInt8>

            mutating func next() async -> UInt8? { rest.popFirst() }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: bytes[...]) }
    }

    func all<S: AsyncSequence>(_ sequence: S) async throws -> [S.Element] {
        var elements: [S.Element] = []
        for try await element in sequence { elements.append(element) }
        return elements
    }

    @Test("Lines end at every kind of line end, and empty ones are left out")
    func lines() async throws {
        let text = "a\nb\r\nc\rd\u{B}e\u{C}f\u{85}g\u{2028}h\u{2029}\n\n\r\nĀ é last"
        let lines = try await all(Bytes(bytes: Array(text.utf8)).lines)
        #expect(lines == ["a", "b", "c", "d", "e", "f", "g", "h", "Ā é last"])
        #expect(try await all(Bytes(bytes: []).lines).isEmpty)
    }

    @Test("Scalars, with U+FFFD for bytes that are not UTF-8")
    func scalars() async throws {
        let bytes = Array("aé€👨".utf8) + [0xFF, 0xE2, 0x82] + Array("z".utf8) + [0xF0, 0x9F]
        let scalars = try await all(Bytes(bytes: bytes).unicodeScalars)
        #expect(String(String.UnicodeScalarView(scalars)) == String(decoding: bytes, as: UTF8.self))
    }

    @Test("Characters of several scalars stay together")
    func characters() async throws {
        let text = "e\u{301}👨‍👩‍👧🇩🇪\r\nx"
        #expect(try await all(Bytes(bytes: Array(text.utf8)).characters) == Array(text))
    }

    @Test("Combining marks without end are split after 128 scalars, and no scalar is lost")
    func combiningMarks() async throws {
        let text = "ae" + String(repeating: "\u{301}", count: 300) + "z"
        let characters = try await all(Bytes(bytes: Array(text.utf8)).characters)
        #expect(characters.map { $0.unicodeScalars.count } == [1, 128, 128, 45, 1])
        #expect(characters.flatMap { $0.unicodeScalars } == Array(text.unicodeScalars))
    }
}
