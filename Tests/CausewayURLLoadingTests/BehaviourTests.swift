import Foundation
import Synchronization
import Testing

@testable import CausewayURLLoading

@Suite("Behaviours of configurations, tasks, delegates and caches (§2, §4, §5, §11, §26)")
struct BehaviourTests {
    let hello = URL(string: "data:,hello")!

    @Test("§2: further default settings")
    func defaults() {
        let configuration = URLSessionConfiguration.default
        #expect(configuration.allowsExpensiveNetworkAccess && configuration.allowsConstrainedNetworkAccess)
        #expect(!configuration.isDiscretionary && configuration.sessionSendsLaunchEvents)
        #expect(!configuration.requiresDNSSECValidation && !configuration.enablesEarlyData)
        #expect(!configuration.httpShouldUsePipelining && configuration.networkServiceType == .default)
        #expect(configuration.connectionProxyDictionary == nil && configuration.proxyConfigurations.isEmpty)
        #expect(configuration.sharedContainerIdentifier == nil)
        let background = URLSessionConfiguration.background(withIdentifier: "b")
        #expect(background.httpCookieStorage === HTTPCookieStorage.shared)
        #expect(background.urlCredentialStorage === URLCredentialStorage.shared)
        let ephemeral = URLSessionConfiguration.ephemeral
        #expect(ephemeral.urlCredentialStorage !== URLCredentialStorage.shared)
        #expect(ephemeral.urlCache !== URLCache.shared)
    }

    @Test("§2: reset and flush call back on the delegate queue")
    func renewal() async {
        let session = URLSession(configuration: .unhurried)
        let isReset = await withCheckedContinuation { done in
            session.reset { done.resume(returning: OperationQueue.current === session.delegateQueue) }
        }
        let isFlushed = await withCheckedContinuation { done in
            session.flush { done.resume(returning: OperationQueue.current === session.delegateQueue) }
        }
        #expect(isReset && isFlushed)
    }

    @Test("§3: sending restarts the idle timeout; while a task waits for connectivity, only the resource timeout runs")
    func waiting() async throws {
        let recorder = WaitingRecorder()
        let session = MockProtocol.session("waiting.mock", delegate: recorder) { _ in }
        let task = session.dataTask(with: URL(string: "http://waiting.mock/")!)
        task.resume()
        while MockProtocol.starts.withLock({ $0["waiting.mock"] }) == nil { await Task.yield() }
        let core = try #require(task.core)
        let attempt = try #require(core.state.withLock { $0.load.attempt })
        let first = try #require(core.state.withLock { $0.clock.deadline })
        #expect(core.state.withLock { $0.clock.resourceDeadline } != first)
        core.receive(.sent(1), from: attempt)
        #expect(try #require(core.state.withLock { $0.clock.deadline }) > first)
        core.receive(.waiting, from: attempt)
        while recorder.count.withLock({ $0 }) == 0 { await Task.yield() }
        #expect(core.state.withLock { $0.clock.deadline == $0.clock.resourceDeadline })
        core.receive(.continues, from: attempt)
        while core.state.withLock({ $0.clock.deadline == $0.clock.resourceDeadline }) { await Task.yield() }
        session.invalidateAndCancel()
    }

    final class WaitingRecorder: NSObject, URLSessionTaskDelegate, Sendable {
        let count = Mutex(0)

        func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
            count.withLock { $0 += 1 }
        }
    }

    @Test("§4: identifiers, priorities, copies and the kinds of delivery")
    func tasks() {
        let session = URLSession(configuration: .unhurried)
        defer { session.invalidateAndCancel() }
        let tasks: [URLSessionTask] = [
            session.dataTask(with: hello), session.downloadTask(with: hello),
            session.dataTask(with: hello) { _, _, _ in },
        ]
        #expect(tasks.map(\.taskIdentifier) == [1, 2, 3])
        #expect(tasks.map(\.prefersIncrementalDelivery) == [true, false, false])
        #expect(tasks.allSatisfy { $0.priority == URLSessionTask.defaultPriority && $0.state == .suspended })
        #expect(URLSessionTask.defaultPriority == 0.5)
        #expect(URLSessionTask.lowPriority == 0.25 && URLSessionTask.highPriority == 0.75)
        tasks[0].priority = 0.9
        #expect(tasks[0].priority == 0.9 && tasks[0].copy() as? URLSessionTask === tasks[0])
        #expect(session.copy() as? URLSession === session)
        let upload = session.uploadTask(with: URLRequest(url: hello), from: Data(count: 7))
        #expect(upload.countOfBytesExpectedToSend == 7 && tasks[0].countOfBytesExpectedToSend == 0)
    }

    @Test("§4: later changes of a request that is an object change nothing")
    func mutableRequest() {
        let request = NSMutableURLRequest(url: hello)
        request.setValue("1", forHTTPHeaderField: "X")
        let session = URLSession(configuration: .unhurried)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: request as URLRequest)
        request.setValue("2", forHTTPHeaderField: "X")
        request.url = URL(string: "data:,other")
        #expect(task.originalRequest?.value(forHTTPHeaderField: "X") == "1" && task.originalRequest?.url == hello)
    }

    @Test(
        "§5: didCreateTask runs on the thread that makes the task, before the call returns; the queue of a session is serial"
    )
    func creation() {
        final class Creation: NSObject, URLSessionTaskDelegate, Sendable {
            let seen = Mutex<(isSameThread: Bool, description: String?)?>(nil)
            let thread = Unmanaged.passUnretained(Thread.current).toOpaque().hashValue

            func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
                task.taskDescription = "made"
                let current = Unmanaged.passUnretained(Thread.current).toOpaque().hashValue
                seen.withLock { $0 = (current == thread, task.taskDescription) }
            }
        }
        let delegate = Creation()
        let session = URLSession(configuration: .unhurried, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: hello)
        #expect(delegate.seen.withLock { $0?.isSameThread } == true && task.taskDescription == "made")
        #expect(session.delegateQueue.maxConcurrentOperationCount == 1 && session.delegateQueue !== OperationQueue.main)
    }

    @Test("§5: until the delegate answers, from any thread, nothing is delivered")
    func heldAnswer() async {
        final class Holding: NSObject, URLSessionDataDelegate, Sendable {
            typealias Answer = @Sendable (URLSession.ResponseDisposition) -> Void
            let answer = Mutex<Answer?>(nil)
            let events = Mutex<[String]>([])

            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
                completionHandler: @escaping Answer
            ) {
                events.withLock { $0.append("response") }
                answer.withLock { $0 = completionHandler }
            }

            func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
                events.withLock { $0.append("data") }
            }

            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                events.withLock { $0.append("completed") }
            }
        }
        let delegate = Holding()
        let session = URLSession(configuration: .unhurried, delegate: delegate, delegateQueue: nil)
        session.dataTask(with: hello).resume()
        while delegate.answer.withLock({ $0 == nil }) { await Task.yield() }
        // While the delegate has not answered, its queue is not blocked. Another task can complete.
        await withCheckedContinuation { done in
            session.dataTask(with: hello) { _, _, _ in done.resume() }.resume()
        }
        #expect(delegate.events.withLock { $0 } == ["response"])
        let answer = delegate.answer.withLock { $0 }
        Thread.detachNewThread { answer?(.allow) }
        while delegate.events.withLock({ $0.last }) != "completed" { await Task.yield() }
        #expect(delegate.events.withLock { $0 } == ["response", "data", "completed"])
    }

    @Test("§10: changes of a storage post a notification")
    func notification() throws {
        final class Counting: Sendable {
            let count = Mutex(0)
        }
        let storage = HTTPCookieStorage()
        let counting = Counting()
        let observer = NotificationCenter.default.addObserver(
            forName: .NSHTTPCookieManagerCookiesChanged, object: storage, queue: nil
        ) { _ in counting.count.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(observer) }
        let cookie = try #require(
            HTTPCookie(properties: [.name: "n", .value: "v", .path: "/", .domain: "example.com"]))
        storage.setCookie(cookie)
        storage.deleteCookie(cookie)
        #expect(counting.count.withLock { $0 } == 2)
    }

    @Test(
        "§11: the delegate changes or refuses what is stored; downloads store nothing",
        arguments: ["change", "refuse", "download"])
    func caching(_ kind: String) async throws {
        final class Deciding: NSObject, URLSessionDataDelegate, Sendable {
            let changes: Bool
            init(_ changes: Bool) { self.changes = changes }

            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposed: CachedURLResponse,
                completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
            ) {
                completionHandler(
                    changes ? CachedURLResponse(response: proposed.response, data: Data("new".utf8)) : nil)
            }
        }
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let host = "\(kind)-cache.mock"
        let session = MockProtocol.session(
            host, delegate: Deciding(kind == "change"), configure: { $0.urlCache = cache }
        ) {
            $0.respond(200, ["Cache-Control": "max-age=60"], policy: .allowed)
            $0.load("old")
            $0.finish()
        }
        let request = URLRequest(url: URL(string: "http://\(host)/")!)
        if kind == "download" {
            let (file, _) = try await session.download(for: request)
            try FileManager.default.removeItem(at: file)
        } else {
            let task = session.dataTask(with: request)
            task.resume()
            while task.state != .completed { await Task.yield() }
        }
        #expect(cache.cachedResponse(for: request)?.data == (kind == "change" ? Data("new".utf8) : nil))
    }

    @Test("§11: returnCacheDataElseLoad reads an entry of any age, and loads without one; reloading ignores entries")
    func policies() async throws {
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let session = MockProtocol.session("policy.mock", configure: { $0.urlCache = cache }) {
            $0.respond(200, ["Cache-Control": "max-age=0"], policy: .notAllowed)
            $0.load("loaded")
            $0.finish()
        }
        var request = URLRequest(url: URL(string: "http://policy.mock/")!)
        request.cachePolicy = .returnCacheDataElseLoad
        #expect(try await session.data(for: request).0 == Data("loaded".utf8))
        let response = try #require(
            HTTPURLResponse(url: request.url!, statusCode: 200, httpVersion: nil, headerFields: nil))
        cache.storeCachedResponse(CachedURLResponse(response: response, data: Data("stored".utf8)), for: request)
        #expect(try await session.data(for: request).0 == Data("stored".utf8))
        for policy in [NSURLRequest.CachePolicy.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData] {
            request.cachePolicy = policy
            #expect(try await session.data(for: request).0 == Data("loaded".utf8))
        }
    }

    @Test("§16: a response from the cache has the fetch type of the cache, and no phases of a connection")
    func cacheMetrics() async throws {
        let recorder = Recorder()
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let configuration = URLSessionConfiguration.unhurried
        configuration.urlCache = cache
        let session = URLSession(configuration: configuration, delegate: recorder, delegateQueue: nil)
        var request = URLRequest(url: URL(string: "http://cache.invalid/")!)
        request.cachePolicy = .returnCacheDataDontLoad
        let response = try #require(
            HTTPURLResponse(url: request.url!, statusCode: 200, httpVersion: nil, headerFields: nil))
        cache.storeCachedResponse(CachedURLResponse(response: response, data: Data("stored".utf8)), for: request)
        session.dataTask(with: request).resume()
        await recorder.end()
        let transaction = try #require(recorder.state.withLock { $0.metrics?.transactionMetrics.first })
        #expect(transaction.resourceFetchType == .localCache && recorder.data == Data("stored".utf8))
        #expect(transaction.domainLookupStartDate == nil && transaction.connectStartDate == nil)
        #expect(!transaction.isReusedConnection && !transaction.isProxyConnection)
    }

    @Test("§26: the numbers of enumerations are those of Apple's")
    func numbers() {
        let services: [NSURLRequest.NetworkServiceType] = [
            .responsiveData, .avStreaming, .responsiveAV, .callSignaling,
        ]
        #expect(services.map(\.rawValue) == [6, 8, 9, 11])
        let policies: [NSURLRequest.CachePolicy] = [
            .useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .returnCacheDataElseLoad, .returnCacheDataDontLoad,
            .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData,
        ]
        #expect(policies.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
        let states: [URLSessionTask.State] = [.running, .suspended, .canceling, .completed]
        #expect(states.map(\.rawValue) == [0, 1, 2, 3])
        let codes: [URLSessionWebSocketTask.CloseCode] = [.invalid, .normalClosure, .goingAway, .tlsHandshakeFailure]
        #expect(codes.map(\.rawValue) == [0, 1_000, 1_001, 1_015])
    }
}
