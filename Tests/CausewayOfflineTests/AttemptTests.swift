@testable import CausewayClient
import CausewayHTTPProtocols
@testable import CausewayOffline
import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

@Suite("Offline engine: attempts")
struct AttemptTests {
    /// The server's reaction to one request.
    enum Reply: Sendable {
        case status(Int)
        case error(URLError.Code)
        /// The server redirects the request with status 303, and cannot be reached for the next one.
        case redirectToNowhere

        func perform() throws -> (Data, HTTPURLResponse) {
            switch self {
            case .status(let status): return try answer(status: status)
            case .error(let code): throw URLError(code)
            case .redirectToNowhere:
                throw URLError(.cannotConnectToHost, userInfo: ["CausewayMethodAfterRedirect": "GET"])
            }
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var method = "PUT"
        var advice = RetryAdvice.resend
        /// The replies to the first requests. The server accepts all later ones.
        var replies: [Reply]
        var outcome: OfflineOutcome
        var requestCount: Int
        /// The numbers of the attempts as the events report them.
        var attempts: [Int]
        var testDescription: String { name }
    }

    static let rows = [
        Row(
            name: "lost, resent, no way", replies: [.error(.networkConnectionLost), .error(.cannotConnectToHost)],
            outcome: .unknown, requestCount: 2, attempts: [1]),
        Row(
            name: "failed, resent, unreadable file", replies: [.error(.timedOut), .error(.fileDoesNotExist)],
            outcome: .unknown, requestCount: 2, attempts: [1]),
        Row(
            name: "refused, resent, no way", replies: [.status(401), .error(.cannotFindHost)],
            outcome: .succeeded(status: 200), requestCount: 3, attempts: [1, 2]),
        Row(
            name: "no way, resent, no way", replies: [.error(.cannotFindHost), .error(.cannotConnectToHost)],
            outcome: .succeeded(status: 200), requestCount: 3, attempts: [1, 1]),
        Row(
            name: "lost, advice to retry", advice: .retry(after: .zero), replies: [.error(.networkConnectionLost)],
            outcome: .unknown, requestCount: 1, attempts: [1]),
        Row(
            name: "redirected, no way", method: "POST", advice: .pass, replies: [.redirectToNowhere],
            outcome: .unknown, requestCount: 1, attempts: [1]),
        Row(
            name: "file that cannot be read now", advice: .pass, replies: [.error(.noPermissionsToReadFile)],
            outcome: .succeeded(status: 200), requestCount: 2, attempts: [1, 1]),
    ]

    @Test("A request that may have been applied is not sent again by the queue", arguments: rows)
    func resent(_ row: Row) async throws {
        let adviser = Adviser { failure in failure.attempt == 1 ? row.advice : .pass }
        let bench = try Bench(interceptors: [adviser]) { _, number in
            try (number <= row.replies.count ? row.replies[number - 1] : .status(200)).perform()
        }
        let engine = try await bench.open { $0.policy.unknownFate = .report }
        let events = engine.events
        let id = try await engine.enqueue(post("a", method: row.method))
        try await bench.drain(engine)
        #expect(try await engine.result(of: id).outcome == row.outcome)
        #expect(bench.arrivals.count == row.requestCount)
        var attempts: [Int] = []
        for await event in events {
            if case .sending(let attempt) = event.kind { attempts.append(attempt) }
            if case .ended = event.kind { break }
        }
        #expect(attempts == row.attempts)
    }

    @Test("A response that arrives while the engine stops ends the operation")
    func lateResponse() async throws {
        let (arrived, gate) = (Gate(), Gate())
        let bench = try Bench { _, _ in
            arrived.open()
            await gate.wait()
            return try answer(status: 201)
        }
        let engine = try await bench.open()
        let id = try await engine.enqueue(post("a"))
        let running = Task { try await engine.run() }
        await arrived.wait()
        running.cancel()
        gate.open()
        try await running.value
        #expect(try await engine.result(of: id).outcome == .succeeded(status: 201))
        #expect(bench.arrivals.count == 1)
    }

    private static func engine(_ bench: Bench, _ medium: FaultyMedium) throws -> OfflineEngine {
        var configuration = OfflineEngine.Configuration()
        configuration.policy.expiry.maximumAge = nil
        return try OfflineEngine(
            client: bench.client, configuration: configuration, content: Journal.read(medium.journal), medium: medium,
            tornByteCount: 0, clocks: bench.clocks)
    }

    @Test(
        "An operation that is cancelled, or whose engine stops, before it is sent is not sent",
        arguments: [true, false])
    func notSent(_ isCancelled: Bool) async throws {
        for _ in 0..<20 {
            let (bench, medium) = (try Bench(), FaultyMedium())
            let engine = try Self.engine(bench, medium)
            let id = try await engine.enqueue(post("a"))
            medium.pause()
            let running = Task { try await engine.run() }
            while engine.operations.first?.state != .sending { await Task.yield() }
            let cancelling = isCancelled ? Task { try await engine.cancel(id) } : nil
            while isCancelled, !engine.operations.isEmpty { await Task.yield() }
            if !isCancelled { running.cancel() }
            medium.goOn()
            _ = try await cancelling?.value
            running.cancel()
            try await running.value
            #expect(bench.arrivals.isEmpty && engine.operations.count == (isCancelled ? 0 : 1))
            #expect(engine.reports.count == (isCancelled ? 1 : 0))
        }
    }

    @Test("The end of an attempt leaves the next attempt of its operation cancellable")
    func interrupts() async throws {
        let medium = FaultyMedium()
        let stopped = Gate()
        let bench = try Bench { _, number in
            if number == 1 {
                medium.pause()
                throw URLError(.cannotConnectToHost)
            }
            do {
                try await VirtualClock().sleep(for: .seconds(1))
            } catch {
                stopped.open()
                throw error
            }
            return try answer()
        }
        // Without a reachable network, nothing but the change below ends the wait after the first attempt.
        bench.network.change(to: Reachability(nil))
        let engine = try Self.engine(bench, medium)
        let id = try await engine.enqueue(post("a"))
        let running = Task { try await engine.run() }
        while bench.arrivals.isEmpty || engine.operations.first?.state != .waiting { await Task.yield() }
        // The record of the first attempt's end is not written yet. The network comes back: the next attempt begins.
        let first = engine.state.withLock { $0.interrupts[id.number] }
        bench.network.change(to: Reachability(.wifi))
        while engine.state.withLock({ $0.interrupts[id.number] }) === first { await Task.yield() }
        medium.goOn()
        while bench.arrivals.count < 2 { await Task.yield() }
        try await engine.cancel(id)
        // Without an end of the attempt, this test does not end: the engine still runs.
        await stopped.wait()
        running.cancel()
        try await running.value
    }

    @Test("A file that cannot be examined is not taken for a missing one")
    func unreadableFile() async throws {
        let bench = try Bench()
        let folder = bench.directory.appendingPathExtension("input")
        let manager = FileManager.default
        try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? manager.removeItem(at: folder) }
        let file = folder.appendingPathComponent("file")
        try Data("one".utf8).write(to: file)
        let engine = try await bench.open()
        var request = ClientRequest("PUT", "a")
        request.body = .file(file, contentType: "text/plain")
        var options = OfflineOptions()
        options.fileHandling = .reference
        try await engine.enqueue(request, options: options)
        // A symbolic link to itself is in the place of the folder.
        let other = folder.appendingPathExtension("moved")
        try manager.moveItem(at: folder, to: other)
        defer { try? manager.removeItem(at: other) }
        try manager.createSymbolicLink(at: folder, withDestinationURL: folder)
        let events = engine.events
        let running = Task { try await engine.run() }
        for await event in events {
            guard case .storageFailed(let reason) = event.kind else { continue }
            #expect(reason.contains(file.path))
            break
        }
        #expect(engine.operations.count == 1 && bench.arrivals.isEmpty)
        try manager.removeItem(at: folder)
        try manager.moveItem(at: other, to: folder)
        while !engine.operations.isEmpty {
            await Task.yield()
            bench.clock.advanceToNextDeadline()
        }
        running.cancel()
        try await running.value
        #expect(bench.arrivals.map(\.content) == ["one"] && engine.reports.isEmpty)
    }
}
