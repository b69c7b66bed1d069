import Foundation
import Testing

@testable import CausewayURLLoading

extension Loopback {
    @Suite("URLSession: NTLM (MS-NTHT, MS-NLMP)")
    struct URLSessionNTLMTests {
        @Test("Three messages on one connection, which later loads use without a field")
        func handshake() async throws {
            let log = NTLMRig.Log()
            let server = try NTLMRig.server(log)
            let delegate = NTLMRig.delegate()
            let session = privateSession(delegate)
            defer { session.invalidateAndCancel() }
            for _ in 0..<3 { #expect(try await NTLMRig.text(session, server.uri()) == "200 GET ann ") }
            #expect(NTLMRig.challenges(delegate) == ["challenge NTLM 0"])
            #expect(log.messages == [0, 1, 3, 0, 0])
            #expect(log.all.map(\.connection) == [1, 2, 2, 2, 2])
            let stored = session.configuration.urlCredentialStorage?.allCredentials ?? [:]
            #expect(stored.first?.key.authenticationMethod == NSURLAuthenticationMethodNTLM)
        }

        @Test("Names with a domain", arguments: [("D\\bob", "word"), ("eve@d.test", "pass")])
        func domains(user: String, password: String) async throws {
            let server = try NTLMRig.server(NTLMRig.Log())
            let session = privateSession(NTLMRig.delegate(user, password))
            defer { session.invalidateAndCancel() }
            #expect(try await NTLMRig.text(session, server.uri()) == "200 GET \(user) ")
        }

        @Test(
            "The first message has no content, the last one has; a stream is asked for again", arguments: [true, false])
        func content(isStream: Bool) async throws {
            let log = NTLMRig.Log()
            let server = try NTLMRig.server(log)
            let session = privateSession(NTLMRig.delegate())
            defer { session.invalidateAndCancel() }
            var request = URLRequest(url: try #require(URL(string: server.uri())))
            request.httpMethod = "POST"
            request.httpBody = Data("content".utf8)
            #expect(try await NTLMRig.text(session, request) == "200 POST ann content")
            #expect(log.all.map(\.request.body) == ["content", "", "content"])
            if isStream {
                request.httpBodyStream = InputStream(data: Data("stream".utf8))
                #expect(try await NTLMRig.text(session, request) == "200 POST ann stream")
                #expect(log.all.last?.message == 0)
            }
        }

        @Test("A request with another credential, or after the session forgot it, never gets the connection")
        func strangers() async throws {
            let log = NTLMRig.Log()
            let server = try NTLMRig.server(log)
            let session = privateSession(NTLMRig.delegate())
            defer { session.invalidateAndCancel() }
            #expect(try await NTLMRig.text(session, server.uri()) == "200 GET ann ")
            var request = URLRequest(url: try #require(URL(string: server.uri())))
            request.setValue("Basic eDp5", forHTTPHeaderField: "Authorization")
            #expect(try await NTLMRig.text(session, request) == "200 GET - ")
            #expect(log.all.last?.connection == 1)
            await session.reset()
            #expect(try await NTLMRig.text(session, server.uri()) == "200 GET ann ")
            #expect(log.messages.suffix(3) == [0, 1, 3])
            #expect(log.all.filter { $0.connection == 2 }.map(\.message) == [1, 3])
        }

        @Test("A wrong password is counted; then the response is the result")
        func refused() async throws {
            let log = NTLMRig.Log()
            let server = try NTLMRig.server(log)
            let delegate = NTLMRig.delegate("ann", "wrong")
            let session = privateSession(delegate)
            defer { session.invalidateAndCancel() }
            #expect(try await NTLMRig.text(session, server.uri()) == "401 refused")
            #expect(NTLMRig.challenges(delegate) == (0...2).map { "challenge NTLM \($0)" })
            #expect(log.messages == [0, 1, 3, 1, 3])
        }

        @Test("A connection that closes after the challenge: the handshake starts over, and never goes on elsewhere")
        func closed() async throws {
            let log = NTLMRig.Log()
            let server = try NTLMRig.server(log) { connection, challenge in
                connection == 2 && challenge != "NTLM" ? [challenge, "Connection: close"] : [challenge]
            }
            let session = privateSession(NTLMRig.delegate())
            defer { session.invalidateAndCancel() }
            #expect(try await NTLMRig.text(session, server.uri()) == "200 GET ann ")
            #expect(log.messages == [0, 1, 1, 3] && log.all.map(\.connection) == [1, 2, 3, 3])
            let never = NTLMRig.Log()
            let closing = try NTLMRig.server(never) { _, challenge in
                challenge == "NTLM" ? [challenge] : [challenge, "Connection: close"]
            }
            #expect(await failureCode { _ = try await NTLMRig.text(session, closing.uri()) } == .networkConnectionLost)
            #expect(never.messages == [0, 1, 1, 1])
        }

        @Test("Loads at the same time: each connection has its own handshake, and there are not too many")
        func parallel() async throws {
            let log = NTLMRig.Log()
            let server = try NTLMRig.server(log)
            let delegate = NTLMRig.delegate()
            let session = privateSession(delegate)
            defer { session.invalidateAndCancel() }
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<8 { group.addTask { try await NTLMRig.text(session, server.uri()) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(texts == Array(repeating: "200 GET ann ", count: 8))
            for connection in 1...log.connectionCount {
                let messages = log.all.filter { $0.connection == connection }.map(\.message)
                #expect(messages.allSatisfy { $0 == 0 } || messages.filter { $0 != 0 }.prefix(2) == [1, 3])
            }
            #expect(try await NTLMRig.text(session, server.uri()) == "200 GET ann ")
        }

        @Test("A cancelled load leaves the connections to the others")
        func cancelled() async throws {
            let log = NTLMRig.Log()
            let server = try NTLMRig.server(log)
            let session = privateSession(NTLMRig.delegate()) { $0.httpMaximumConnectionsPerHost = 1 }
            defer { session.invalidateAndCancel() }
            #expect(try await NTLMRig.text(session, server.uri()) == "200 GET ann ")
            let loads = (0..<6).map { _ in Task { try await NTLMRig.text(session, server.uri()) } }
            for load in loads.prefix(5) { load.cancel() }
            #expect(try await loads[5].value == "200 GET ann ")
        }

        @Test("Without MD4 the next challenge is offered, otherwise NTLM comes before Basic", arguments: [true, false])
        func unavailable(isMissing: Bool) async throws {
            let log = NTLMRig.Log()
            let server = try NTLMRig.server(log, others: ["Basic realm=\"r\""])
            let delegate = EventDelegate { _ in
                (.useCredential, URLCredential(user: "ann", password: "secret", persistence: .none))
            }
            let session = privateSession(delegate) {
                if isMissing { NTLMRig.removeFunctions($0) }
            }
            defer { session.invalidateAndCancel() }
            #expect(try await NTLMRig.text(session, server.uri()) == (isMissing ? "200 GET - " : "200 GET ann "))
            #expect(NTLMRig.challenges(delegate) == [isMissing ? "challenge HTTPBasic 0" : "challenge NTLM 0"])
        }

        @Test("Default handling without a stored credential sends no message")
        func defaultHandling() async throws {
            let log = NTLMRig.Log()
            let server = try NTLMRig.server(log)
            let session = privateSession(EventDelegate())
            defer { session.invalidateAndCancel() }
            #expect(try await NTLMRig.text(session, server.uri()) == "401 refused")
            #expect(log.messages == [0])
        }

        @Test(
            "Without MD4 and another challenge, a credential leads to an error that says what to install; none to the 401"
        )
        func missing() async throws {
            let log = NTLMRig.Log()
            let server = try NTLMRig.server(log)
            let session = privateSession(NTLMRig.delegate(), NTLMRig.removeFunctions)
            let other = privateSession(EventDelegate(), NTLMRig.removeFunctions)
            defer { for session in [session, other] { session.invalidateAndCancel() } }
            let error = try #require(await failure { _ = try await NTLMRig.text(session, server.uri()) })
            #expect(error.code == .userAuthenticationRequired)
            #expect(
                error.userInfo[NSLocalizedFailureReasonErrorKey] as? String
                    == "The server 127.0.0.1 demands NTLM, which is not available. NTLM needs MD4. Install it: package-x."
            )
            #expect(try await NTLMRig.text(other, server.uri()) == "401 refused")
            #expect(log.messages == [0, 0])
        }

        @Test("Without OpenSSL's legacy provider, the error of a load names its package")
        func provider() async {
            await #expect(processExitsWith: .success) {
                Watchdog.arm(seconds: 600)
                // OpenSSL looks for its providers in this directory, which does not exist.
                setenv("OPENSSL_MODULES", "/none", 1)
                let server = try NTLMRig.server(NTLMRig.Log())
                let session = privateSession(NTLMRig.delegate())
                let error = await failure { _ = try await NTLMRig.text(session, server.uri()) }
                #expect(error?.code == .userAuthenticationRequired)
                let reason = error?.userInfo[NSLocalizedFailureReasonErrorKey] as? String
                #expect(reason?.hasPrefix("The server 127.0.0.1 demands NTLM") == true)
                #expect(reason?.contains("openssl-provider-legacy") == true)
            }
        }
    }
}
