import CausewayURLLoading
import Foundation

private func makeSession(_ delegate: (any URLSessionDelegate)? = nil, width: Int) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpMaximumConnectionsPerHost = width
    return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
}

/// Sends many requests over persistent connections, with up to 16 requests at the same time.
final class Growth: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private static let width = 16
    private let url: URL
    private let count: Int
    private let lock = NSLock()
    private var started = 0
    private var ended = 0
    private var failures = 0
    private var early = 0
    private var isDone: (() -> Void)?

    init(_ url: URL, count: Int) {
        self.url = url
        self.count = count
    }

    /// Sends all requests. Returns the resident memory after a tenth of them and after all of them, and the number of
    /// failures.
    func run(_ style: String) async -> (early: Int, late: Int, failures: Int) {
        let session = makeSession(style == "delegate" ? self : nil, width: Self.width)
        switch style {
        case "async":
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.width {
                    group.addTask { [self] in
                        while takesNext() { finished(try? await session.data(from: url).1) }
                    }
                }
            }
        default:
            await withCheckedContinuation { continuation in
                isDone = { continuation.resume() }
                for _ in 0..<Self.width { start(style, in: session) }
            }
        }
        return (early, Memory.current, failures)
    }

    private func takesNext() -> Bool {
        lock.withLock {
            started += 1
            return started <= count
        }
    }

    private func finished(_ response: URLResponse?) {
        let done = lock.withLock { () -> (() -> Void)? in
            if (response as? HTTPURLResponse)?.statusCode != 200 { failures += 1 }
            ended += 1
            if ended == count / 10 { early = Memory.current }
            return ended == count ? isDone : nil
        }
        done?()
    }

    private func start(_ style: String, in session: URLSession) {
        guard takesNext() else { return }
        guard style == "handler" else { return session.dataTask(with: url).resume() }
        session.dataTask(with: url) { [self] _, response, _ in
            finished(response)
            start(style, in: session)
        }.resume()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        finished(error == nil ? task.response : nil)
        start("delegate", in: session)
    }
}

/// Sends GET and POST requests to a server that closes idle connections at random moments.
struct StaleConnections: Sendable {
    private let url: URL

    init(_ url: URL) { self.url = url }

    func run(_ count: Int) async -> String {
        let width = 8
        let session = makeSession(width: width)
        let failures = await withTaskGroup(of: (gets: Int, posts: Int).self) { group in
            for client in 0..<width {
                group.addTask { await load(client, count / width, in: session) }
            }
            return await group.reduce((gets: 0, posts: 0)) { ($0.gets + $1.gets, $0.posts + $1.posts) }
        }
        return "gets \(count / width * width) failed \(failures.gets) posts failed \(failures.posts)"
    }

    private func load(_ client: Int, _ count: Int, in session: URLSession) async -> (gets: Int, posts: Int) {
        var failed = (gets: 0, posts: 0)
        for number in 0..<count {
            if await !succeeds(URLRequest(url: url), in: session) { failed.gets += 1 }
            try? await Task.sleep(for: .microseconds(.random(in: 0..<3_000)))
            var post = URLRequest(url: url)
            post.httpMethod = "POST"
            post.httpBody = Data("\(client)-\(number)".utf8)
            if await !succeeds(post, in: session) { failed.posts += 1 }
            try? await Task.sleep(for: .microseconds(.random(in: 0..<3_000)))
        }
        return failed
    }

    private func succeeds(_ request: URLRequest, in session: URLSession) async -> Bool {
        let result = try? await session.data(for: request)
        return (result?.1 as? HTTPURLResponse)?.statusCode == 200 && result?.0.count == 2
    }
}

/// Measures requests that are cancelled at random times.
struct Cancellations: Sendable {
    private let url: URL

    init(_ url: URL) { self.url = url }

    /// Starts requests and cancels them. Returns the number of open descriptors before and afterwards, and the number
    /// of requests that were complete.
    func run(_ count: Int) async throws -> String {
        _ = try await cancelled(50)
        let before = Self.descriptorCount
        let complete = try await cancelled(count)
        var after = Self.descriptorCount
        // Closing is asynchronous, so wait until the descriptors are closed.
        for _ in 0..<500 where after > before {
            try await Task.sleep(for: .milliseconds(10))
            after = Self.descriptorCount
        }
        return "descriptors before \(before) after \(after) complete \(complete)"
    }

    private func cancelled(_ count: Int) async throws -> Int {
        let session = makeSession(width: 6)
        defer { session.invalidateAndCancel() }
        var complete = 0
        for number in 0..<count {
            let task = Task { [url] in try await session.data(from: url) }
            // Cancel each request after a short random time. Half of the requests have a shorter time, so they are
            // cancelled while the connection is established or before the response.
            try await Task.sleep(for: .microseconds(.random(in: 0..<(number % 2 == 0 ? 400 : 2_000))))
            task.cancel()
            if case .success = await task.result { complete += 1 }
        }
        return complete
    }

    private static var descriptorCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }
}
