import Causeway
import CausewayBonjour
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    @Suite("URLSession: stream tasks, proxies that ask, and services (§9, §15, §22)")
    struct URLSessionStreamProxyTests {
        private static func with(
            _ kind: TestProxy.Kind, _ delegate: StreamTaskDelegate, waits: Bool = false,
            _ body: (URLSession, UInt16) async throws -> Void
        ) async throws {
            let server = try ScriptedServer { peer in
                while case let line = try await peer.read(line: ()), !line.isEmpty {
                    try await peer.write("\(line)!\r\n")
                }
            }
            let number = try #require(URL(string: server.uri())?.port.flatMap { UInt16(exactly: $0) })
            let target = NWEndpoint.hostPort(host: .ipv4(.loopback), port: NWEndpoint.Port(integerLiteral: number))
            try await TestProxy.with(kind, route: { _ in target }) { proxy in
                guard case .hostPort(_, let port) = proxy.endpoint else { return }
                let session = privateSession(delegate) {
                    let configuration =
                        if case .socks = kind {
                            ProxyConfiguration(socksv5Proxy: proxy.endpoint)
                        } else {
                            ProxyConfiguration(httpCONNECTProxy: proxy.endpoint)
                        }
                    $0.proxyConfigurations = [configuration]
                    $0.waitsForConnectivity = waits
                }
                defer { session.invalidateAndCancel() }
                try await body(session, port.rawValue)
            }
        }

        private static func talk(_ session: URLSession) async -> String {
            let task = session.streamTask(withHostName: "inner.test", port: 7)
            task.resume()
            if let code = await task.say("hello\r\n") { return "\(code)" }
            defer { task.cancel() }
            return await task.hear(8, 8)
        }

        @Test(
            "A proxy asks the delegate of a stream task, and later tasks need no answer", arguments: [false, true],
            [false, true])
        func answers(isSOCKS: Bool, waits: Bool) async throws {
            let kind = isSOCKS ? TestProxy.Kind.socks(credential: "ann:secret") : .http(credential: "ann:secret")
            let delegate = StreamTaskDelegate { challenge in
                let space = challenge.protectionSpace
                #expect(space.isProxy() && (challenge.error as? URLError)?.code == .cannotConnectToHost)
                let password = challenge.previousFailureCount == 0 ? "wrong" : "secret"
                return (.useCredential, URLCredential(user: "ann", password: password, persistence: .forSession))
            }
            try await Self.with(kind, delegate, waits: waits) { session, port in
                #expect(await Self.talk(session) == "hello!\r\n")
                #expect(await Self.talk(session) == "hello!\r\n")
                let method = isSOCKS ? "Default" : "HTTPBasic"
                #expect(
                    delegate.events.filter { $0.hasPrefix("challenge") }
                        == Array(repeating: "challenge \(method) 127.0.0.1", count: 2))
                let stored = session.configuration.urlCredentialStorage?.allCredentials ?? [:]
                #expect(stored.count == 1 && stored.first?.key.port == Int(port))
                #expect(stored.first?.value["ann"]?.password == "secret")
            }
        }

        @Test("Without a credential, or after cancelling, the stream task fails", arguments: [false, true])
        func refused(cancels: Bool) async throws {
            let delegate = StreamTaskDelegate { _ in
                (cancels ? .cancelAuthenticationChallenge : .performDefaultHandling, nil)
            }
            try await Self.with(.http(credential: "ann:secret"), delegate) { session, _ in
                let code = cancels ? URLError.cancelled : URLError.cannotConnectToHost
                #expect(await Self.talk(session) == "\(code.rawValue)")
                #expect(delegate.events.filter { $0.hasPrefix("challenge") } == ["challenge HTTPBasic 127.0.0.1"])
            }
        }

        @Test("§15: services without a stream fail the task with badURL")
        func impossibleServices() async throws {
            for service in [
                NetService(domain: "", type: "_http._udp.", name: "A"), NetService(domain: "", type: "http", name: "A"),
                NetService(domain: "a..b", type: "_http._tcp.", name: "A"),
            ] {
                let task = privateSession().streamTask(with: service)
                task.resume()
                let read = await task.hear()
                #expect(read == "\(URLError.badURL.rawValue)")
            }
        }
    }
}
