import Dispatch
import Foundation

#if canImport(CausewayURLLoading)
    import CausewayMeasures
    import CausewayURLLoading
#else
    import FoundationNetworking
#endif

/// Loads a URL over and over, in one of several styles. `http-ratios` also compiles this file with the toolchain's URL loading.
///
/// usage: HTTPClients engine|engine-tasks|async|stores|handler|delegate|download URL REQUESTS CONCURRENCY
@main
struct HTTPClients {
    static func main() async {
        let words = CommandLine.arguments
        guard words.count == 5, let url = URL(string: words[2]), let requests = Int(words[3]), let width = Int(words[4])
        else {
            fatalError(
                "usage: HTTPClients engine|engine-tasks|async|stores|handler|delegate|download URL REQUESTS CONCURRENCY"
            )
        }
        let load = Load(url, requests, width)
        let failures: Int
        switch words[1] {
        #if canImport(CausewayURLLoading)
            case "engine": failures = await HTTPMeasure.getWithoutTasks(words[2], times: requests, concurrency: width)
            case "engine-tasks": failures = await HTTPMeasure.get(words[2], times: requests, concurrency: width)
        #endif
        case "async": failures = await load.tasks { session, url in try await session.data(from: url).1 }
        case "stores":
            load.useStores()
            failures = await load.tasks { session, url in try await session.data(from: url).1 }
        case "download":
            failures = await load.tasks { session, url in
                let (file, response) = try await session.download(from: url)
                try FileManager.default.removeItem(at: file)
                return response
            }
        case "handler": failures = await load.handlers()
        case "delegate": failures = await load.delegate()
        default: fatalError("unknown style \(words[1])")
        }
        print("done \(requests) failed \(failures)")
        exit(failures > 0 ? 1 : 0)
    }
}

/// The requests that remain, and the number of failures so far.
final class Load: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let lock = NSLock()
    private let url: URL
    private let width: Int
    private var left: Int
    private var unfinished: Int
    private var failures = 0
    private var isDone: (() -> Void)?
    private let configuration: URLSessionConfiguration

    init(_ url: URL, _ requests: Int, _ width: Int) {
        self.url = url
        self.width = width
        left = requests
        unfinished = requests
        configuration = .ephemeral
        configuration.httpMaximumConnectionsPerHost = width
        configuration.urlCache = nil
    }

    /// Turns on the cache in memory, and sends three cookies with each request.
    func useStores() {
        configuration.urlCache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 0, diskPath: nil)
        for name in ["session", "theme", "consent"] {
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: name, .value: "0123456789abcdef", .domain: url.host ?? "", .path: "/",
            ]
            if let cookie = HTTPCookie(properties: properties) { configuration.httpCookieStorage?.setCookie(cookie) }
        }
    }

    private func takesNext() -> Bool {
        lock.withLock {
            left -= 1
            return left >= 0
        }
    }

    private func finished(_ hasFailed: Bool) {
        let done = lock.withLock { () -> (() -> Void)? in
            failures += hasFailed ? 1 : 0
            unfinished -= 1
            return unfinished == 0 ? isDone : nil
        }
        done?()
    }

    /// Runs several tasks at the same time. Each task loads the URL again and again until no request is left.
    func tasks(_ body: @escaping @Sendable (URLSession, URL) async throws -> URLResponse) async -> Int {
        let session = URLSession(configuration: configuration)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask { [self] in
                    while takesNext() {
                        let response = try? await body(session, url)
                        finished((response as? HTTPURLResponse)?.statusCode != 200)
                    }
                }
            }
        }
        return failures
    }

    func handlers() async -> Int {
        let session = URLSession(configuration: configuration)
        await withCheckedContinuation { continuation in
            isDone = { continuation.resume() }
            for _ in 0..<width { next(in: session) }
        }
        return failures
    }

    private func next(in session: URLSession) {
        guard takesNext() else { return }
        session.dataTask(with: url) { [self] _, response, _ in
            finished((response as? HTTPURLResponse)?.statusCode != 200)
            next(in: session)
        }.resume()
    }

    func delegate() async -> Int {
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        await withCheckedContinuation { continuation in
            isDone = { continuation.resume() }
            for _ in 0..<width where takesNext() { session.dataTask(with: url).resume() }
        }
        return failures
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        finished(error != nil)
        if takesNext() { session.dataTask(with: url).resume() }
    }
}
