import CausewayURLLoading
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("URLSession: life of delegates, limits of challenges, requests as they are sent (§2 - §16)")
    struct URLSessionRestTests {
        private static func url(_ server: ScriptedServer, _ path: String = "/") throws -> URL {
            try #require(URL(string: server.uri(path)))
        }

        @Test("§2: a session retains its delegate until the session becomes invalid, then releases it")
        func sessionDelegate() async throws {
            let server = try echoServer()
            var delegate: EventDelegate? = EventDelegate()
            let released = { [weak delegate] in delegate == nil }
            let session = privateSession(delegate)
            let end = delegate?.end
            delegate = nil
            session.dataTask(with: try Self.url(server)).resume()
            await end?.wait()
            #expect(!released() && session.delegate != nil)
            session.finishTasksAndInvalidate()
            while !released() { await Task.yield() }
            #expect(session.delegate == nil)
        }

        @Test("§4: a task retains its delegate until the task ends, then releases it")
        func taskDelegate() async throws {
            let server = try echoServer()
            let session = privateSession()
            defer { session.invalidateAndCancel() }
            var delegate: EventDelegate? = EventDelegate()
            let released = { [weak delegate] in delegate == nil }
            let task = session.dataTask(with: try Self.url(server))
            task.delegate = delegate
            let end = delegate?.end
            delegate = nil
            #expect(task.delegate != nil && !released())
            task.resume()
            await end?.wait()
            while !released() { await Task.yield() }
            #expect(task.delegate == nil && task.state == .completed && task.error == nil)
        }

        @Test("§9: a server that refuses 20 credentials ends the task with its response")
        func endless() async throws {
            let server = try echoServer { _ in
                reply("401 Unauthorized", ["WWW-Authenticate: Basic realm=\"r\""], "no")
            }
            let delegate = EventDelegate { challenge in
                let user = "user \(challenge.previousFailureCount)"
                return (.useCredential, URLCredential(user: user, password: "p", persistence: .none))
            }
            let session = privateSession(delegate)
            defer { session.invalidateAndCancel() }
            let (data, response) = try await session.data(from: Self.url(server))
            #expect(data == Data("no".utf8) && (response as? HTTPURLResponse)?.statusCode == 401)
            #expect(
                delegate.events.filter { $0.hasPrefix("challenge") } == (0..<20).map { "challenge HTTPBasic \($0)" })
        }

        @Test("§11: ignoring all caches asks those on the way for a new response; other policies do not")
        func ignoringRemote() async throws {
            let requests = RequestLog()
            let server = try echoServer(requests)
            let session = privateSession()
            defer { session.invalidateAndCancel() }
            for policy in [URLRequest.CachePolicy.reloadIgnoringLocalAndRemoteCacheData, .reloadIgnoringLocalCacheData]
            {
                _ = try await session.data(for: URLRequest(url: Self.url(server), cachePolicy: policy))
            }
            #expect(requests.all.map { $0["cache-control"] } == ["no-cache", nil])
            #expect(requests.all.map { $0["pragma"] } == ["no-cache", nil])
        }

        @Test("§13: Expect is sent only if the program sets it; the content waits for the server")
        func expectation() async throws {
            let requests = RequestLog()
            let server = try ScriptedServer { peer in
                while let head = try await peer.readHead() {
                    let request = ScriptedRequest(head: head)
                    requests.append(request)
                    if request["expect"] != nil { try await peer.write("HTTP/1.1 100 Continue\r\n\r\n") }
                    let content = try await peer.read(count: 3)
                    try await peer.write(reply("200 OK", [], content))
                }
            }
            let session = privateSession()
            defer { session.invalidateAndCancel() }
            var request = URLRequest(url: try Self.url(server))
            request.httpMethod = "POST"
            for field in [nil, "100-continue"] {
                request.setValue(field, forHTTPHeaderField: "Expect")
                let (data, _) = try await session.upload(for: request, from: Data("abc".utf8))
                #expect(data == Data("abc".utf8))
            }
            #expect(requests.all.map { $0["expect"] } == [nil, "100-continue"])
        }

        @Test("§13: a file that must not be read fails the upload")
        func unreadable() async throws {
            let server = try echoServer()
            // This file can only be written, even by root.
            let file = URL(fileURLWithPath: "/proc/sys/net/ipv4/route/flush")
            let request = URLRequest(url: try Self.url(server))
            let code = await failureCode { _ = try await privateSession().upload(for: request, fromFile: file) }
            #expect(code == .noPermissionsToReadFile)
        }

        @Test("§18: an error has a text, also if it has none in its user info")
        func text() async throws {
            let error = await failure {
                _ = try await privateSession().data(from: try #require(URL(string: "ftp://a/")))
            }
            #expect(error?.localizedDescription == error?.userInfo[NSLocalizedDescriptionKey] as? String)
            #expect(URLError(.timedOut).localizedDescription == "The request timed out.")
            let own = URLError(.timedOut, userInfo: [NSLocalizedDescriptionKey: "mine"])
            #expect(own.localizedDescription == "mine" && (own as any Error).localizedDescription == "mine")
            #expect(!URLError(.callIsActive).localizedDescription.isEmpty)
        }

        @Test("Each iteration of a publisher's values loads the request once")
        func publisher() async throws {
            let requests = RequestLog()
            let server = try echoServer(requests)
            let session = privateSession()
            defer { session.invalidateAndCancel() }
            let publisher = session.dataTaskPublisher(for: try Self.url(server))
            #expect(publisher.request.url == (try Self.url(server)) && publisher.session === session)
            #expect(requests.all.isEmpty)
            for count in 1...2 {
                var texts: [String] = []
                for try await (data, response) in publisher.values {
                    #expect((response as? HTTPURLResponse)?.statusCode == 200)
                    texts.append(String(decoding: data, as: UTF8.self))
                }
                #expect(texts == ["GET "] && requests.all.count == count)
            }
            let refused = session.dataTaskPublisher(for: URLRequest(url: try #require(URL(string: "ftp://a/"))))
            #expect(await failureCode { for try await _ in refused.values {} } == .unsupportedURL)
        }
    }
}
