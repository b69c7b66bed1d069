import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    @Suite("URLSession: authentication (§9)")
    struct URLSessionAuthenticationTests {
        /// Starts a server that asks for the user `user` and the password `secret`, by default with the Basic scheme.
        private static func server(
            _ requests: RequestLog, challenge: String = "Basic realm=\"r\""
        ) throws -> ScriptedServer {
            try ScriptedServer { peer in
                try await peer.serve { request in
                    requests.append(request)
                    let given = request["authorization"]
                    if given == "Basic dXNlcjpzZWNyZXQ=" || given?.hasPrefix("Digest username=\"user\"") == true {
                        return reply("200 OK", [], "welcome \(request.body)")
                    }
                    return reply("401 Unauthorized", ["WWW-Authenticate: \(challenge)"], "who?")
                }
            }
        }

        private static func text(_ session: URLSession, _ uri: String) async throws -> (String, Int) {
            let (data, response) = try await session.data(from: try #require(URL(string: uri)))
            return (String(decoding: data, as: UTF8.self), (response as? HTTPURLResponse)?.statusCode ?? 0)
        }

        @Test("Without a credential, the 401 response is the result")
        func noCredential() async throws {
            let server = try Self.server(RequestLog())
            let (text, status) = try await Self.text(privateSession(), server.uri())
            #expect(text == "who?")
            #expect(status == 401)
        }

        // RFC 9110 §11.4, §11.6.2, §15.5.2.
        @Test("The credential of a delegate is sent, then sent up front below the same path")
        func delegate() async throws {
            let requests = RequestLog()
            let server = try Self.server(requests)
            let delegate = EventDelegate { _ in
                (.useCredential, URLCredential(user: "user", password: "secret", persistence: .forSession))
            }
            let session = privateSession(delegate)
            #expect(try await Self.text(session, server.uri("/a/b")) == ("welcome ", 200))
            #expect(try await Self.text(session, server.uri("/a/c")) == ("welcome ", 200))
            #expect(requests.all.map { $0["authorization"] != nil } == [false, true, true])
            #expect(delegate.events.filter { $0.hasPrefix("challenge") } == ["challenge HTTPBasic 0"])
            #expect(server.acceptedCount == 1)
            let stored = session.configuration.urlCredentialStorage?.allCredentials.values.first
            #expect(stored?["user"]?.password == "secret")
        }

        // RFC 9110 §11.5.
        @Test(
            "The realm of a challenge; without one, the host. A stored credential for it is used",
            arguments: [
                ("Basic realm=\"r\"", "r"), ("Basic realm=\"\"", ""), ("Basic", "127.0.0.1"),
                ("Basic charset=\"UTF-8\"", "127.0.0.1"),
            ])
        func realms(_ challenge: String, _ realm: String) async throws {
            let server = try Self.server(RequestLog(), challenge: challenge)
            let url = try #require(URL(string: server.uri()))
            let realms = TextLog()
            let delegate = EventDelegate { challenge in
                realms.append(challenge.protectionSpace.realm ?? "nil")
                return (.performDefaultHandling, nil)
            }
            let session = privateSession(delegate)
            defer { session.invalidateAndCancel() }
            let storage = try #require(session.configuration.urlCredentialStorage)
            let space = URLProtectionSpace(
                host: "127.0.0.1", port: try #require(url.port), protocol: "http", realm: realm,
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            storage.set(URLCredential(user: "user", password: "secret", persistence: .forSession), for: space)
            #expect(try await Self.text(session, server.uri()) == ("welcome ", 200))
            #expect(realms.all == [realm])
        }

        @Test("A wrong credential is refused, and the failures are counted")
        func refused() async throws {
            let server = try Self.server(RequestLog())
            let delegate = EventDelegate { challenge in
                guard challenge.previousFailureCount < 2 else { return (.performDefaultHandling, nil) }
                return (.useCredential, URLCredential(user: "user", password: "wrong", persistence: .none))
            }
            let (text, status) = try await Self.text(privateSession(delegate), server.uri())
            #expect(text == "who?")
            #expect(status == 401)
            #expect(
                delegate.events.filter { $0.hasPrefix("challenge") } == [
                    "challenge HTTPBasic 0", "challenge HTTPBasic 1", "challenge HTTPBasic 2",
                ])
        }

        @Test("Cancelling a challenge ends the task with .cancelled")
        func cancelled() async throws {
            let server = try Self.server(RequestLog())
            let session = privateSession(EventDelegate { _ in (.cancelAuthenticationChallenge, nil) })
            let found = await failureCode { _ = try await Self.text(session, server.uri()) }
            #expect(found == .cancelled)
        }

        @Test("A challenge that its sender cancels ends the task, and the delegate's later answer is ignored")
        func cancelledBySender() async throws {
            let requests = RequestLog()
            let server = try Self.server(requests)
            let session = privateSession(
                EventDelegate { challenge in
                    challenge.sender?.cancel(challenge)
                    return (.useCredential, URLCredential(user: "user", password: "secret", persistence: .none))
                })
            let found = await failureCode { _ = try await Self.text(session, server.uri()) }
            #expect(found == .cancelled)
            #expect(requests.all.count == 1)
        }

        @Test("A delegate can answer with the challenge's sender instead of the completion handler")
        func answeredBySender() async throws {
            let server = try Self.server(RequestLog())
            let session = privateSession(
                SenderDelegate { challenge, sender in
                    sender.use(URLCredential(user: "user", password: "secret", persistence: .none), for: challenge)
                })
            #expect(try await Self.text(session, server.uri()) == ("welcome ", 200))
        }

        @Test("Rejecting the strongest challenge leads to the next one")
        func rejected() async throws {
            let server = try Self.server(
                RequestLog(), challenge: "Basic realm=\"r\", Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")
            let delegate = EventDelegate { challenge in
                guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic else {
                    return (.rejectProtectionSpace, nil)
                }
                return (.useCredential, URLCredential(user: "user", password: "secret", persistence: .none))
            }
            #expect(try await Self.text(privateSession(delegate), server.uri()).1 == 200)
            #expect(
                delegate.events.filter { $0.hasPrefix("challenge") } == [
                    "challenge HTTPDigest 0", "challenge HTTPBasic 0",
                ])
        }

        @Test("A stored default credential and one in the URL are used without a delegate", arguments: [true, false])
        func stored(_ isInURL: Bool) async throws {
            let requests = RequestLog()
            let server = try Self.server(requests, challenge: "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")
            var parts = try #require(URLComponents(string: server.uri("/x")))
            let session = privateSession()
            if isInURL {
                (parts.user, parts.password) = ("user", "secret")
            } else {
                let space = URLProtectionSpace(
                    host: "127.0.0.1", port: parts.port ?? 0, protocol: "http", realm: "r",
                    authenticationMethod: NSURLAuthenticationMethodHTTPDigest)
                session.configuration.urlCredentialStorage?.setDefaultCredential(
                    URLCredential(user: "user", password: "secret", persistence: .forSession), for: space)
            }
            let (text, status) = try await Self.text(session, try #require(parts.url).absoluteString)
            #expect(text == "welcome ")
            #expect(status == 200)
            let last = try #require(requests.all.last)
            #expect(last["authorization"]?.contains("uri=\"/x\"") == true)
        }

        @Test("The body is sent again with the credential")
        func body() async throws {
            let server = try Self.server(RequestLog())
            let session = privateSession(
                EventDelegate { _ in
                    (.useCredential, URLCredential(user: "user", password: "secret", persistence: .none))
                })
            var request = URLRequest(url: try #require(URL(string: server.uri())))
            request.httpMethod = "POST"
            let (data, _) = try await session.upload(for: request, from: Data("content".utf8))
            #expect(String(decoding: data, as: UTF8.self) == "welcome content")
        }
    }
}
