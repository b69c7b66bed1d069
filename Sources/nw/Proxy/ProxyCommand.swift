import ArgumentParser
import Causeway
import FoundationEssentials

/// `nw proxy`: which proxy the environment wants for a URL, and why.
struct ProxyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy",
        abstract: "Say which proxy the environment wants for a URL, and why.",
        discussion: """
            http_proxy and HTTP_PROXY are for http and ws, https_proxy and HTTPS_PROXY for https and wss, all_proxy and \
            ALL_PROXY for the rest; no_proxy or NO_PROXY lists domains, addresses and networks that need none. This \
            host itself never needs one. Nothing is connected to. 'nw cat' and 'nw connect' follow the environment \
            with --proxy env.

            Examples:
              nw proxy https://example.com
              nw proxy http://10.0.0.7:8080/path --json
            """)

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @Argument(help: "A URL.")
    var url: String

    func validate() throws {
        guard let url = URL(string: url), url.scheme != nil, let host = url.host(), !host.isEmpty else {
            throw ValidationError("'\(url)' is not a URL with a scheme and a host.")
        }
    }

    func run() async throws {
        try await reporting("proxy") {
            let answer = try ProxyAnswer(url, ProcessInfo.processInfo.environment)
            printLine(json ? try answer.json() : answer.text)
        }
    }
}

/// What `nw proxy` shows, in the shape of its JSON.
struct ProxyAnswer: Encodable {
    var url: String
    /// As a URL, without the credential; `nil` for the direct way.
    var proxy: String?
    var hasCredential: Bool
    var reason: String

    init(_ text: String, _ variables: [String: String]) throws {
        guard let url = URL(string: text), let scheme = url.scheme, let host = url.host(percentEncoded: false) else {
            throw Failure("no URL")
        }
        self.url = text
        // For the rules a port is of use, if the scheme has one.
        let port = url.port.flatMap { NWEndpoint.Port("\($0)") } ?? NWEndpoint.Port(scheme.lowercased()) ?? .any
        let endpoint = NWEndpoint.hostPort(host: NWEndpoint.Host(host), port: port)
        let decision: ProxyConfiguration.EnvironmentDecision
        do {
            decision = try ProxyConfiguration.environmentDecision(for: endpoint, scheme: scheme, variables)
        } catch {
            // Not the value, which may hold a password.
            let means = "; PAC scripts are not run here: name the proxy itself in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY"
            let hint = error == .posix(.ENOTSUP) ? means : ""
            throw Failure("the environment names no http://, https:// or socks5:// proxy for \(scheme) URLs\(hint)")
        }
        proxy = decision.proxy?.address
        hasCredential = decision.proxy?.hasCredential ?? false
        switch (decision.variable, decision.exception) {
        case (nil, _): reason = "no variable names a proxy for \(scheme) URLs"
        case (let variable?, nil): reason = "by \(variable)"
        case (let variable?, let exception?): reason = "'\(exception)' is excepted from \(variable)"
        }
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    var text: String {
        let way = proxy.map { hasCredential ? "\($0) with a credential" : $0 } ?? "direct"
        return "\(way.printable): \(reason.printable)"
    }
}
