import CausewayProtocols
import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials
import Testing

@testable import Causeway
@testable import CausewayHTTP

extension Loopback {
    @Suite("HTTP/2 and TLS exchanges")
    struct HTTP2ExchangeTests {
        private static func text(
            _ engine: HTTPEngine, _ uri: String, _ method: String = "GET", body: HTTPRequestBody = .none
        ) async throws -> String {
            let response = try await engine.execute(try request(uri, method), body: body)
            return String(decoding: try await response.collect(upTo: 1 << 20), as: UTF8.self)
        }

        private static func request(_ uri: String, _ method: String = "GET") throws -> HTTPRequestValue {
            var request = try #require(HTTPRequestValue(method: method, uri: uri))
            request.idleTimeout = nil
            return request
        }

        private static func engine(
            _ authority: HTTPAuthority, _ change: (inout HTTPEngine.Configuration) -> Void = { _ in }
        ) -> HTTPEngine {
            var configuration = HTTPEngine.Configuration()
            configuration.makeParameters = { _ in authority.clientParameters() }
            configuration.http2.settingsTimeout = .seconds(36_000)
            configuration.pingTimeout = .seconds(36_000)
            change(&configuration)
            return HTTPEngine(configuration)
        }

        private static func echo(_ request: MachineServer.Request) -> MachineServer.Reply {
            MachineServer.Reply(content: Data(request.path.utf8) + request.content)
        }

        // Choice of HTTP/2 with TLS: RFC 9113 §3.1, §3.2.
        @Test("TLS chooses HTTP/2, and all requests use one connection")
        func multiplexing() async throws {
            let authority = try HTTPAuthority()
            let server = try await MachineServer(tls: authority.serverOptions(["h2", "http/1.1"]), Self.echo)
            defer { server.stop() }
            let engine = Self.engine(authority)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<80 {
                    group.addTask {
                        let content = Data("content \(number)".utf8)
                        let answer = try await Self.text(
                            engine, server.uri("/\(number)/"), "POST", body: number % 2 == 0 ? .data(content) : .none)
                        #expect(answer == "/\(number)/" + (number % 2 == 0 ? "content \(number)" : ""))
                    }
                }
                try await group.waitForAll()
            }
            #expect(server.acceptedCount == 1)
            #expect(engine.connectionCount == 1)
        }

        @Test("A server without HTTP/2 gets at most six HTTP/1.1 connections", arguments: [["http/1.1"], []])
        func http1(_ protocols: [String]) async throws {
            let authority = try HTTPAuthority()
            let server = try await MachineServer(tls: authority.serverOptions(protocols), Self.echo)
            defer { server.stop() }
            let engine = Self.engine(authority)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        let answer = try await Self.text(engine, server.uri("/\(number)"))
                        #expect(answer == "/\(number)")
                    }
                }
                try await group.waitForAll()
            }
            #expect((1...6).contains(server.acceptedCount))
        }

        @Test("An engine without HTTP/2 does not offer it")
        func disabled() async throws {
            let authority = try HTTPAuthority()
            let server = try await MachineServer(tls: authority.serverOptions(["h2", "http/1.1"]), Self.echo)
            defer { server.stop() }
            let engine = Self.engine(authority) { $0.offersHTTP2 = false }
            let response = try await engine.execute(try Self.request(server.uri()))
            #expect(response.head.version == .http11)
        }

        @Test("A response names its connection and the phases of its establishment", arguments: ["h2", "http/1.1"])
        func information(_ name: String) async throws {
            let authority = try HTTPAuthority()
            let server = try await MachineServer(tls: authority.serverOptions([name]), Self.echo)
            defer { server.stop() }
            let engine = Self.engine(authority)
            let started = System.now
            for isReused in [false, true] {
                let recorder = ResponseRecorder()
                engine.start(try Self.request(server.uri()), observer: recorder)
                let information = try await recorder.connection.next()
                _ = try await recorder.result.next().get()
                #expect(information.isReused == isReused)
                let details = information.details
                #expect(details.protocolName == name)
                #expect(!details.usesProxy)
                #expect(details.remoteEndpoint == server.endpoint)
                let security = try #require(details.security)
                #expect(security.version == .TLSv13)
                let trust = try #require(security.trust)
                #expect(SecTrustGetCertificateCount(trust) >= 1)
                let (connect, secure) = (try #require(details.connect), try #require(details.secureConnect))
                #expect(started <= connect.start && connect.start <= secure.start && secure.start < secure.end)
                #expect(secure.end <= System.now && details.resolution == nil)
            }
        }

        enum Refusal: CaseIterable {
            case wrongName, unknownAuthority
        }

        // RFC 9110 §4.3.4.
        @Test(
            "A certificate that is not trusted fails the request before anything is sent", arguments: Refusal.allCases)
        func refused(_ refusal: Refusal) async throws {
            let authority = try HTTPAuthority()
            let server = try await MachineServer(tls: authority.serverOptions(["h2", "http/1.1"]), Self.echo)
            defer { server.stop() }
            let trusted = refusal == .wrongName ? authority : try HTTPAuthority()
            // The certificate names server.test and 127.0.0.1 only.
            let host = refusal == .wrongName ? "localhost" : "127.0.0.1"
            do {
                _ = try await Self.engine(trusted).execute(try Self.request(server.uri(host: host)))
                Issue.record("there was a response")
            } catch HTTPFailure.cannotConnect(.tls) {}
            #expect(server.answeredCount == 0)
        }

        @Test("Prior knowledge uses HTTP/2 without TLS, with trailers")
        func priorKnowledge() async throws {
            let server = try await MachineServer(isHTTP2: true) { request in
                var trailers = FieldSection()
                trailers.append("x-end", "yes")
                return MachineServer.Reply(content: Data(request.path.utf8), trailers: trailers)
            }
            defer { server.stop() }
            var configuration = HTTPEngine.Configuration()
            configuration.usesPriorKnowledge = { _ in true }
            configuration.http2.settingsTimeout = .seconds(36_000)
            configuration.pingTimeout = .seconds(36_000)
            let engine = HTTPEngine(configuration)
            let response = try await engine.execute(try Self.request(server.uri("/a", scheme: "http")))
            let content = try await response.collect(upTo: 100)
            #expect(content == Data("/a".utf8))
            #expect(response.trailers?.firstValue(of: "x-end") == "yes")
            #expect(response.head.version == .http2)
        }

        @Test("16 MiB in each direction over one HTTP/2 connection")
        func transfer() async throws {
            let authority = try HTTPAuthority()
            let content = Data((0..<(16 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            let server = try await MachineServer(tls: authority.serverOptions(["h2"])) { request in
                MachineServer.Reply(
                    content: request.content.isEmpty ? content : Data("\(request.content == content)".utf8))
            }
            defer { server.stop() }
            let engine = Self.engine(authority)
            async let upload = Self.text(engine, server.uri("/up"), "PUT", body: .data(content))
            let response = try await engine.execute(try Self.request(server.uri("/down")))
            var received = Data()
            received.reserveCapacity(content.count)
            for try await piece in response.body {
                received += piece
                // Let other tasks run from time to time. This makes the reader slow.
                if received.count % 7 == 0 { await Task.yield() }
            }
            let isWhole = received == content
            #expect(isWhole)
            #expect(try await upload == "true")
            #expect(server.acceptedCount == 1)
        }

        @Test("Requests go through proxies", arguments: [true, false], [true, false])
        func proxies(_ usesSOCKS: Bool, _ isSecure: Bool) async throws {
            let authority = try HTTPAuthority()
            let tls = isSecure ? try authority.serverOptions(["h2", "http/1.1"]) : nil
            let server = try await MachineServer(tls: tls, Self.echo)
            defer { server.stop() }
            try await TestProxy.with(usesSOCKS ? .socks() : .http(), route: { _ in server.endpoint }) { proxy in
                let context = NWParameters.PrivacyContext(description: "proxies")
                let configuration =
                    usesSOCKS
                    ? ProxyConfiguration(socksv5Proxy: proxy.endpoint)
                    : ProxyConfiguration(httpCONNECTProxy: proxy.endpoint)
                context.proxyConfigurations = [configuration]
                let engine = Self.engine(authority) { configuration in
                    configuration.makeParameters = { origin in
                        let parameters = origin.isSecure ? authority.clientParameters() : NWParameters.tcp
                        parameters.setPrivacyContext(context)
                        return parameters
                    }
                }
                let recorder = ResponseRecorder()
                let uri = server.uri("/x", scheme: isSecure ? "https" : "http", host: "server.test")
                engine.start(try Self.request(uri), observer: recorder)
                let details = try await recorder.connection.next().details
                _ = try await recorder.result.next().get()
                #expect(details.usesProxy)
                #expect(details.protocolName == (isSecure ? "h2" : "http/1.1"))
                #expect(try await proxy.requests.next().contains("server.test"))
                #expect(recorder.content == Data("/x".utf8))
                engine.shutDown()
            }
        }

        @Test("Without a path, a request waits if it wants to, and fails otherwise")
        func path() async throws {
            let server = try await MachineServer(Self.echo)
            defer { server.stop() }
            var configuration = HTTPEngine.Configuration()
            configuration.makeParameters = { _ in
                let parameters = NWParameters.tcp
                parameters.prohibitedInterfaceTypes = [.loopback]
                parameters.requiredInterface = NWInterface(name: "absent0", index: 4_000, type: .wifi)
                return parameters
            }
            let engine = HTTPEngine(configuration)
            var request = try Self.request(server.uri(scheme: "http"))
            request.waitsForPath = true
            let waiting = ResponseRecorder()
            let handle = engine.start(request, observer: waiting)
            _ = try await waiting.waits.next()
            // A new request joins a connection attempt that is already waiting. The observer of the new request must be
            // notified too.
            let second = ResponseRecorder()
            engine.start(request, observer: second)
            _ = try await second.waits.next()
            request.waitsForPath = false
            do {
                _ = try await engine.execute(request)
                Issue.record("there was a response")
            } catch HTTPFailure.cannotConnect {}
            #expect(engine.connectionCount > 0)
            handle.cancel()
            guard case .failure(.cancelled) = try await waiting.result.next() else {
                Issue.record("no cancellation")
                return
            }
            engine.shutDown()
        }
    }
}

/// Records the waits, the connection information, the content and the result of one request.
final class ResponseRecorder: HTTPResponseObserver {
    let waits = Mailbox<NWError>()
    let connection = Mailbox<HTTPConnectionInformation>()
    let result = Mailbox<Result<FieldSection, HTTPFailure>>()
    private let all = LockedValue(Data())

    var content: Data { all.withLock { all in all } }

    func waits(_ reason: NWError) { waits.put(reason) }
    func responded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) {
        self.connection.put(connection)
    }
    func received(_ content: Data) { all.withLock { all in all += content } }
    func ended(_ result: Result<FieldSection, HTTPFailure>) { self.result.put(result) }
}
