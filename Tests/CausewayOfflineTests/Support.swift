@testable import CausewayClient
import CausewayHTTPProtocols
@testable import CausewayOffline
import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Dispatch
import Foundation

/// A simulated server whose answers the test chooses, and the directory of an offline queue.
final class Bench: Sendable {
    typealias Script = @Sendable (URLRequest, _ number: Int) async throws -> (Data, HTTPURLResponse)

    struct Arrival: Equatable, Sendable {
        var name: String
        var key: String?
        var content: String
    }

    let directory: URL
    let clock = VirtualClock()
    let network = Network()
    private let kept = LockedValue<[Arrival]>([])
    private let script: Script
    let client: HTTPClient

    /// - Parameters:
    ///   - interceptors: The interceptors of the client.
    ///   - script: Answers the requests; the default answers with status 200.
    init(
        interceptors: [any RequestInterceptor] = [], _ script: @escaping Script = { _, _ in try answer() }
    ) throws {
        self.script = script
        var configuration = HTTPClient.Configuration(session: .ephemeral)
        configuration.interceptors = interceptors
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("offline-\(UUID().uuidString)")
        let box = LockedValue<(@Sendable (URLRequest, RequestBody.Source) async throws -> (Data, HTTPURLResponse))?>(
            nil)
        client = try HTTPClient(
            baseURL: URL(string: "https://api.example/v1")!,
            configuration: configuration,
            session: URLSession(configuration: .ephemeral),
            loader: { request, source in
                guard let load = box.withLock({ $0 }) else { throw URLError(.cannotConnectToHost) }
                return try await load(request, source)
            }, clock: clock, reachability: network)
        box.withLock {
            $0 = { [weak self] request, source in
                guard let self else { throw URLError(.cancelled) }
                return try await self.load(request, source)
            }
        }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private func load(_ request: URLRequest, _ source: RequestBody.Source) async throws -> (Data, HTTPURLResponse) {
        let content: Data =
            switch source {
            case .data(let data): data
            case .file(let url): (try? Data(contentsOf: url)) ?? Data()
            default: Data()
            }
        let arrival = Arrival(
            name: "\(request.httpMethod ?? "") \(request.url?.absoluteString ?? "")",
            key: request.value(forHTTPHeaderField: "Idempotency-Key"),
            content: content.count > 100 ? "\(content.count) bytes" : String(decoding: content, as: UTF8.self))
        let number = kept.withLock { kept in
            kept.append(arrival)
            return kept.count
        }
        return try await script(request, number)
    }

    /// The requests, in order.
    var arrivals: [Arrival] { kept.withLock { $0 } }

    /// The names of the files in the directory, without those of the journal and the lock.
    var contents: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return names.filter { $0.hasPrefix("content-") }
    }

    /// Opens an offline queue for the test.
    func open(_ change: (inout OfflineEngine.Configuration) -> Void = { _ in }) async throws -> OfflineEngine {
        var configuration = OfflineEngine.Configuration()
        // Turn off the age limit. The test clock skips waiting times, and operations must not expire because of this.
        configuration.policy.expiry.maximumAge = nil
        change(&configuration)
        return try await OfflineEngine.open(
            directory: directory, client: client, configuration: configuration, clocks: clocks)
    }

    /// Waits until no engine holds the directory. The threads that opened a released engine, and that wrote its last
    /// record, can hold it a little longer.
    func untilFree() async throws {
        let directory = try PrivateDirectory.open(directory.path)
        while directory.isLocked("lock") { await Task.yield() }
    }

    var clocks: EngineClocks {
        let clock = clock
        return EngineClocks(clock) { 1_700_000_000_000 + Int64(clock.now.offset / .milliseconds(1)) }
    }

    /// Runs an engine until a condition holds. Moves the clock, so that the engine's waits end at once.
    func run(_ engine: OfflineEngine, until condition: @Sendable () -> Bool) async throws {
        let running = Task { try await engine.run() }
        while !condition() {
            await Task.yield()
            clock.advanceToNextDeadline()
        }
        running.cancel()
        try await running.value
    }

    /// Runs the engine until its operation queue is empty.
    func drain(_ engine: OfflineEngine) async throws { try await run(engine) { engine.operations.isEmpty } }
}

extension OfflineEngine {
    /// Whether no attempt runs, and the next one begins only when the clock moves or the network changes.
    var isResting: Bool {
        let now = clocks.uptime()
        return state.withLock { state in
            guard state.queue.operations.allSatisfy({ $0.phase == .waiting }) else { return false }
            return state.queue.deadline.map { $0 > now } ?? false
        }
    }
}

/// An interceptor whose advice a closure gives.
struct Adviser: RequestInterceptor {
    let body: @Sendable (AttemptFailure) -> RetryAdvice

    func advice(after failure: AttemptFailure) async -> RetryAdvice { body(failure) }
}

/// Returns a response.
func answer(_ text: String = "", status: Int = 200, _ fields: [String: String] = [:]) throws -> (Data, HTTPURLResponse)
{
    guard let url = URL(string: "https://api.example/"),
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
    else { throw URLError(.badServerResponse) }
    return (Data(text.utf8), response)
}

/// Returns a request whose body is a text.
func post(_ path: String, _ text: String = "x", method: String = "POST") -> ClientRequest {
    var request = ClientRequest(method, RequestPath(text: path))
    request.body = .text(text)
    return request
}

/// Returns the code of the error of a call.
func code(_ call: () async throws -> Void) async -> OfflineError.Code? {
    do {
        try await call()
        return nil
    } catch {
        return (error as? OfflineError)?.code
    }
}

/// A network whose state a test changes.
final class Network: ReachabilitySource {
    private let state = LockedValue((now: Reachability(.wired), followers: [@Sendable () -> Void]()))

    func current() -> Reachability { state.withLock { $0.now } }

    func follow(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        state.withLock { $0.followers.append(body) }
        return {}
    }

    func change(to new: Reachability) {
        let followers = state.withLock { state in
            state.now = new
            return state.followers
        }
        for follower in followers { follower() }
    }
}

/// A journal in memory that fails, or waits, when a test says so.
final class FaultyMedium: JournalMedium {
    private struct State {
        var journal: [UInt8] = []
        var failing: Set<String> = []
        var contents: [String: [UInt8]] = [:]
        var isPaused = false
    }

    private let state = LockedValue(State())
    private let turn = DispatchSemaphore(value: 0)

    /// Makes the next write wait for ``goOn()``.
    func pause() { state.withLock { $0.isPaused = true } }

    func goOn() { turn.signal() }

    /// Makes the named calls fail with the error that a full disk causes.
    func fail(_ calls: Set<String>) { state.withLock { $0.failing = calls } }

    var journal: [UInt8] { state.withLock { $0.journal } }
    var contentCount: Int { state.withLock { $0.contents.count } }

    private func check(_ call: String) throws(SystemError) {
        // 28 is the error number ENOSPC.
        if state.withLock({ $0.failing.contains(call) }) { throw SystemError(errno: 28, call: call) }
    }

    var byteCount: Int { journal.count }

    func append(_ bytes: [UInt8]) throws(SystemError) {
        let waits = state.withLock { state in
            defer { state.isPaused = false }
            return state.isPaused
        }
        if waits { turn.wait() }
        try check("write")
        state.withLock { $0.journal += bytes }
    }

    func synchronize() throws(SystemError) { try check("fdatasync") }

    func truncate(to byteCount: Int) throws(SystemError) {
        try check("ftruncate")
        state.withLock { $0.journal.removeSubrange(byteCount...) }
    }

    func replace(with frames: [[UInt8]]) throws(SystemError) -> SystemError? {
        try check("replace")
        state.withLock { $0.journal = frames.flatMap(\.self) }
        do throws(SystemError) {
            try check("fsync")
            return nil
        } catch {
            return error
        }
    }

    func store(_ content: [UInt8], as name: String) throws(SystemError) {
        try check("store")
        state.withLock { $0.contents[name] = content }
    }

    func copy(_ path: String, as name: String, limit: Int) throws(SystemError) -> Int? { 0 }

    func remove(_ name: String) { state.withLock { $0.contents[name] = nil } }

    func path(of name: String) -> String { "/nowhere/\(name)" }
}
