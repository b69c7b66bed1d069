import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Sessions (§2, §5)")
struct SessionTests {
    let hello = URL(string: "data:,hello")!

    @Test("The last message of an invalidated session comes after its tasks")
    func finishes() async {
        let recorder = Recorder()
        let session = URLSession(configuration: .unhurried, delegate: recorder, delegateQueue: nil)
        let task = session.dataTask(with: hello)
        session.finishTasksAndInvalidate()
        task.resume()
        await recorder.end()
        let next = session.dataTask(with: hello)
        // The session may become invalid while this thread announces the new task, so "created" can be the last event.
        while !recorder.events.contains("invalid") { await Task.yield() }
        #expect(recorder.events.prefix { $0 != "invalid" }.contains("completed 3"))
        while session.delegate != nil { await Task.yield() }
        #expect(next.state != .suspended)
    }

    @Test("Invalidation can cancel the tasks")
    func cancels() async {
        let recorder = Recorder()
        let session = URLSession(configuration: .unhurried, delegate: recorder, delegateQueue: nil)
        let tasks = (0..<3).map { _ in session.dataTask(with: hello) }
        session.invalidateAndCancel()
        while recorder.events.last != "invalid" { await Task.yield() }
        #expect(tasks.allSatisfy { ($0.error as? URLError)?.code == .cancelled })
    }

    @Test("A task of an invalid session fails, and its handler is called")
    func invalidSession() async {
        let session = URLSession(configuration: .unhurried)
        session.invalidateAndCancel()
        await #expect { try await session.data(from: hello) } throws: { ($0 as? URLError)?.code == .cancelled }
    }

    @Test("The shared session cannot be invalidated")
    func shared() async throws {
        URLSession.shared.invalidateAndCancel()
        #expect(try await URLSession.shared.data(from: hello).0 == Data("hello".utf8))
    }

    @Test("The lists have the tasks that were resumed and have not ended")
    func lists() async {
        let session = MockProtocol.session("lists.mock") { _ in }
        let url = URL(string: "http://lists.mock/")!
        let data = session.dataTask(with: url)
        let upload = session.uploadTask(with: URLRequest(url: url), from: Data())
        let download = session.downloadTask(with: url)
        #expect(await session.allTasks.isEmpty)
        for task in [data, upload, download] { task.resume() }
        upload.suspend()
        let (ofData, uploads, downloads) = await session.tasks
        #expect(ofData == [data] && uploads == [upload] && downloads == [download])
        #expect(await session.allTasks == [data, upload, download])
        data.cancel()
        #expect(await session.allTasks == [upload, download])
        session.invalidateAndCancel()
        #expect(await session.allTasks.isEmpty)
    }

    @Test("Hundred cancelled tasks call their handlers once each")
    func massCancel() async {
        let session = MockProtocol.session("silent.mock") { _ in }
        let codes = await withTaskGroup(of: URLError.Code?.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        let task = session.dataTask(with: URL(string: "http://silent.mock/")!) { _, _, error in
                            continuation.resume(returning: (error as? URLError)?.code)
                        }
                        task.resume()
                        task.cancel()
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes == Array(repeating: .cancelled, count: 100))
    }

    @Test("Reset removes cookies, responses and credentials")
    func reset() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        let session = URLSession(configuration: configuration)
        let cookie = HTTPCookie(properties: [.name: "n", .value: "v", .path: "/", .domain: "example.com"])
        configuration.httpCookieStorage?.setCookie(try #require(cookie))
        let space = URLProtectionSpace(host: "h", port: 1, protocol: nil, realm: nil, authenticationMethod: nil)
        let credential = URLCredential(user: "u", password: "p", persistence: .forSession)
        configuration.urlCredentialStorage?.set(credential, for: space)
        await session.reset()
        await session.flush()
        #expect(configuration.httpCookieStorage?.cookies?.isEmpty == true)
        #expect(configuration.urlCredentialStorage?.allCredentials.isEmpty == true)
    }

    @Test("Calls come on the queue of the program")
    func queue() async {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let session = URLSession(configuration: .unhurried, delegate: nil, delegateQueue: queue)
        #expect(session.delegateQueue === queue)
        let isThere = await withCheckedContinuation { continuation in
            session.dataTask(with: hello) { _, _, _ in
                continuation.resume(returning: OperationQueue.current === queue)
            }.resume()
        }
        #expect(isThere)
    }
}
