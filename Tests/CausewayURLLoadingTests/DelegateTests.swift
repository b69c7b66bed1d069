import Foundation
import Synchronization
import Testing

@testable import CausewayURLLoading

@Suite("Delegates without responds(to:) (§5, §9, §23)")
struct DelegateTests {
    let hello = URL(string: "data:,hello")!

    /// A delegate that has only the `async` forms of its methods.
    final class AsyncDelegate: NSObject, URLSessionDataDelegate, Sendable {
        let events = Mutex<[String]>([])

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
        ) async -> URLSession.ResponseDisposition {
            events.withLock { $0.append("response") }
            return .cancel
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            events.withLock { $0.append((error as? URLError)?.code == .cancelled ? "cancelled" : "other") }
        }
    }

    /// A delegate that implements no methods.
    final class Silent: NSObject, URLSessionDataDelegate, Sendable {}

    /// A delegate that answers authentication challenges.
    final class Challenged: NSObject, URLSessionDataDelegate, Sendable {
        let calls = Mutex<[String]>([])

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            calls.withLock { $0.append("task") }
            let credential = URLCredential(user: "u", password: "p", persistence: .none)
            completionHandler(.useCredential, credential)
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }

    /// A challenge sender that delivers the program's answer to a challenge as response content.
    final class Sender: NSObject, URLAuthenticationChallengeSender, Sendable {
        let mock: MockProtocol

        init(_ mock: MockProtocol) {
            self.mock = mock
            super.init()
        }

        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
            answer("use \(credential.user ?? "")")
        }
        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { answer("continue") }
        func cancel(_ challenge: URLAuthenticationChallenge) { answer("cancel") }
        func performDefaultHandling(for challenge: URLAuthenticationChallenge) { answer("default") }
        func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) { answer("reject") }

        func answer(_ text: String) {
            mock.respond()
            mock.load(text)
            mock.finish()
        }
    }

    func challenge(_ method: String, _ mock: MockProtocol) -> URLAuthenticationChallenge {
        let space = URLProtectionSpace(
            host: "h", port: 80, protocol: "http", realm: nil, authenticationMethod: method)
        return URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil,
            sender: Sender(mock))
    }

    @Test("The async form is called if there is no form with a handler")
    func asyncForm() async {
        let delegate = AsyncDelegate()
        for count in 1...2 {
            let session = URLSession(configuration: .unhurried, delegate: delegate, delegateQueue: nil)
            let task = session.dataTask(with: hello)
            task.resume()
            while delegate.events.withLock({ $0.count }) < 2 * count { await Task.yield() }
        }
        #expect(delegate.events.withLock { $0 } == ["response", "cancelled", "response", "cancelled"])
    }

    @Test("What the delegate of a task lacks goes to the delegate of the session")
    func fallsBack() async {
        let recorder = Recorder()
        let session = URLSession(configuration: .unhurried, delegate: recorder, delegateQueue: nil)
        let task = session.dataTask(with: hello)
        task.delegate = Silent()
        task.resume()
        await recorder.end()
        #expect(recorder.events == ["created", "response", "data", "metrics", "completed 3"])
        while task.delegate != nil { await Task.yield() }
    }

    @Test("The delegate of the task comes first")
    func taskFirst() async {
        let own = Recorder()
        let other = Recorder()
        let session = URLSession(configuration: .unhurried, delegate: other, delegateQueue: nil)
        let task = session.dataTask(with: hello)
        task.delegate = own
        task.resume()
        await own.end()
        #expect(own.events == ["response", "data", "metrics", "completed 3"])
        #expect(other.events == ["created"])
    }

    /// A delegate that accesses its task when it is released.
    final class Leaving: NSObject, URLSessionTaskDelegate, Sendable {
        let task: URLSessionTask
        let leaves: @Sendable (URLSessionTask.State) -> Void

        init(_ task: URLSessionTask, _ leaves: @escaping @Sendable (URLSessionTask.State) -> Void) {
            self.task = task
            self.leaves = leaves
            super.init()
        }

        deinit { leaves(task.state) }
    }

    @Test("A delegate that a task loses can use the task in its deinitializer")
    func replacedDelegate() {
        let session = URLSession(configuration: .unhurried)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: hello)
        let states = Mutex<[URLSessionTask.State]>([])
        task.delegate = Leaving(task) { state in states.withLock { $0.append(state) } }
        task.delegate = nil
        let seen = states.withLock { $0 }
        #expect(seen == [.suspended])
    }

    @Test("A delegate without methods does not stop a task")
    func silent() async {
        let session = URLSession(configuration: .unhurried, delegate: Silent(), delegateQueue: nil)
        let task = session.dataTask(with: hello)
        task.resume()
        while task.state != .completed { await Task.yield() }
        #expect(task.error == nil && task.countOfBytesReceived == 5)
    }

    @Test("The class of a delegate is asked once for a method")
    func remembered() {
        final class Unasked: NSObject, URLSessionTaskDelegate, Sendable {}
        let session = URLSession(configuration: .unhurried)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: hello)
        var callCount = 0
        for delegate in [Unasked(), Unasked()] {
            let isImplemented: Bool = DelegateProbe.call(delegate, .waitsForConnectivity) {
                callCount += 1
                delegate.urlSession(session, taskIsWaitingForConnectivity: task)
            }
            #expect(!isImplemented && DelegateProbe.isKnownToLack(delegate, .waitsForConnectivity))
        }
        #expect(callCount == 1)
    }

    @Test("A default implementation that the program calls answers")
    func calledByProgram() async {
        let session = URLSession(configuration: .unhurried)
        let task = session.dataTask(with: hello)
        let silent = Silent()
        let disposition = await withCheckedContinuation { continuation in
            silent.urlSession(
                session, dataTask: task,
                didReceive: URLResponse(url: hello, mimeType: nil, expectedContentLength: 0, textEncodingName: nil),
                completionHandler: { continuation.resume(returning: $0) })
        }
        #expect(disposition == .allow)
        task.cancel()
    }

    @Test(
        "Challenges of the request and of the connection reach the task method; the first answer counts",
        arguments: [NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodServerTrust])
    func challenges(method: String) async throws {
        let host = method.lowercased() + ".mock"
        let session = MockProtocol.session(host, delegate: Challenged()) { mock in
            mock.client?.urlProtocol(mock, didReceive: challenge(method, mock))
        }
        let (data, _) = try await session.data(from: URL(string: "http://\(host)/")!)
        #expect(String(decoding: data, as: UTF8.self) == "use u")
    }

    @Test("Without a method the challenge gets default handling")
    func defaultHandling() async throws {
        let session = MockProtocol.session("default.mock", delegate: Silent()) { mock in
            mock.client?.urlProtocol(mock, didReceive: challenge(NSURLAuthenticationMethodServerTrust, mock))
        }
        let (data, _) = try await session.data(from: URL(string: "http://default.mock/")!)
        #expect(String(decoding: data, as: UTF8.self) == "default")
    }

    @Test("A streamed upload asks for its stream")
    func stream() async throws {
        final class Streamer: NSObject, URLSessionDataDelegate, Sendable {
            func urlSession(
                _ session: URLSession, task: URLSessionTask,
                needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
            ) {
                completionHandler(InputStream(data: Data("body".utf8)))
            }
        }
        let asked = Recorder()
        let session = MockProtocol.session("stream.mock", delegate: Streamer()) { mock in
            mock.respond(mock.request.httpBodyStream == nil ? 400 : 200)
            mock.finish()
        }
        let task = session.uploadTask(withStreamedRequest: URLRequest(url: URL(string: "http://stream.mock/")!))
        task.resume()
        while task.state != .completed { await Task.yield() }
        #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
        #expect(task.countOfBytesExpectedToSend == NSURLSessionTransferSizeUnknown)

        let without = MockProtocol.session("stream.mock", delegate: asked) { _ in }
        without.uploadTask(withStreamedRequest: URLRequest(url: URL(string: "http://stream.mock/")!)).resume()
        await asked.end()
        #expect(asked.error?.code == .requestBodyStreamExhausted)
    }
}
