import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

/// Servers and proxies that demand NTLM, and what they saw.
enum NTLMRig {
    /// A request with the number of its connection, and the user that the connection belongs to.
    struct Seen: Sendable {
        var connection: Int
        var request: ScriptedRequest
        var user: String?

        /// The kind of the message of NTLM: 1 or 3; 0 for none.
        var message: Int { NTLMRig.message(request["authorization"] ?? request["proxy-authorization"]) }
    }

    final class Log: Sendable {
        private let list = LockedValue<[Seen]>([])
        private let count = LockedValue(0)

        var all: [Seen] { list.withLock { $0 } }
        var messages: [Int] { all.map(\.message) }
        var connectionCount: Int { count.withLock { $0 } }

        func append(_ seen: Seen) { list.withLock { $0.append(seen) } }

        /// Returns the number of a new connection, from 1.
        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    /// The kind of the message in a field value: 1 or 3; 0 for none.
    static func message(_ value: String?) -> Int {
        guard let value, value.hasPrefix("NTLM ") else { return 0 }
        let token = Data(base64Encoded: String(value.dropFirst(5))) ?? Data()
        return token.count > 8 ? Int(token[8]) : 0
    }

    /// A server that demands NTLM for each connection.
    ///
    /// - Parameter change: Changes a challenge: `nil` closes the connection without a response.
    static func server(
        _ log: Log, others: [String] = [],
        change: @escaping @Sendable (_ connection: Int, _ challenge: String) -> [String]? = { _, text in [text] }
    ) throws -> ScriptedServer {
        try ScriptedServer { peer in
            let connection = log.next()
            var side = NTLMServerSide(passwords: ["ann": "secret", "D\\bob": "word", "eve@d.test": "pass"])
            while let request = try await peer.readRequest() {
                guard let challenge = handle(request, "authorization", connection, &side, log) else {
                    try await peer.write(reply("200 OK", [], "\(request.method) \(side.user ?? "-") \(request.body)"))
                    continue
                }
                guard let fields = change(connection, challenge) else { return }
                let all = (fields + others).map { $0.contains(":") ? $0 : "WWW-Authenticate: \($0)" }
                try await peer.write(reply("401 Who", all, "refused"))
                if fields.contains("Connection: close") { return }
            }
        }
    }

    /// A proxy that demands NTLM for each connection, and is also the server.
    static func proxy(_ log: Log, others: [String] = []) throws -> ScriptedServer {
        try ScriptedServer { peer in
            let connection = log.next()
            var side = NTLMServerSide()
            var accepted: ScriptedRequest?
            while accepted == nil, let request = try await peer.readRequest() {
                guard let challenge = handle(request, "proxy-authorization", connection, &side, log) else {
                    accepted = request
                    continue
                }
                let fields = ([challenge] + others).map { "Proxy-Authenticate: \($0)" }
                try await peer.write(reply("407 Who", fields, "who?"))
            }
            guard let accepted else { return }
            let user = side.user ?? "-"
            let isTunnel = accepted.method == "CONNECT"
            try await peer.write(
                isTunnel ? "HTTP/1.1 200 OK\r\n\r\n" : reply("200 OK", [], "\(accepted.method) by \(user)"))
            try await peer.serve { reply("200 OK", [], "\($0.method) by \(user)") }
        }
    }

    /// Notes a request. Returns the challenge for it; `nil` if it is accepted, also with Basic.
    private static func handle(
        _ request: ScriptedRequest, _ field: String, _ connection: Int, _ side: inout NTLMServerSide, _ log: Log
    ) -> String? {
        let given = request[field]
        let challenge = given?.hasPrefix("Basic ") == true ? nil : side.handle(given)
        log.append(Seen(connection: connection, request: request, user: side.user))
        return challenge
    }

    // MARK: The client

    /// Answers two challenges with a credential.
    static func delegate(_ user: String = "ann", _ password: String = "secret") -> EventDelegate {
        EventDelegate { challenge in
            let space = challenge.protectionSpace
            guard challenge.previousFailureCount < 2 else { return (.performDefaultHandling, nil) }
            #expect(space.authenticationMethod == NSURLAuthenticationMethodNTLM && space.realm == nil)
            return (.useCredential, URLCredential(user: user, password: password, persistence: .forSession))
        }
    }

    static func text(_ session: URLSession, _ request: URLRequest) async throws -> String {
        let (data, response) = try await session.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        return "\(status) " + String(decoding: data, as: UTF8.self)
    }

    static func text(_ session: URLSession, _ uri: String) async throws -> String {
        try await text(session, URLRequest(url: #require(URL(string: uri))))
    }

    static func challenges(_ delegate: EventDelegate) -> [String] {
        delegate.events.filter { $0.hasPrefix("challenge") }
    }

    /// A session whose functions for NTLM are missing, as without OpenSSL's legacy provider.
    static func removeFunctions(_ configuration: URLSessionConfiguration) {
        configuration.settings.transport.ntlm = NTLMMechanism(check: { "NTLM needs MD4. Install it: package-x." })
    }

    static func session(
        _ delegate: EventDelegate, through proxy: ScriptedServer,
        change: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        privateSession(delegate) {
            change($0)
            $0.connectionProxyDictionary = [
                kCFNetworkProxiesHTTPEnable: true, kCFNetworkProxiesHTTPProxy: "127.0.0.1",
                kCFNetworkProxiesHTTPPort: URL(string: proxy.uri())?.port ?? 0,
            ]
        }
    }
}
