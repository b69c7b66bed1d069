import ArgumentParser
import Causeway
import CausewayTypes
import FoundationEssentials

/// `nw proxy`: shows which proxy the environment selects for a URL, and why.
struct ProxyCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "proxy",
        abstract: "Show which proxy the environment selects for a URL, and why.",
        discussion: """
            http_proxy and HTTP_PROXY apply to http and ws URLs, https_proxy and HTTPS_PROXY to https and wss, \
            all_proxy and ALL_PROXY to all others. no_proxy or NO_PROXY lists domains, addresses and networks that \
            are reached directly, as this host always is. auto_proxy contains the URL of a proxy script (PAC), which \
            is fetched and run, like the script of --pac; it does not receive the path and query of https URLs. No \
            other connection is made. 'nw cat' and 'nw connect' use the environment with --proxy env, and a script \
            with --proxy pac+http://HOST/PATH.

            Examples:
              nw proxy https://example.com
              nw proxy http://10.0.0.7:8080/path --json
              nw proxy https://example.com --pac http://wpad.example/proxy.pac
              nw proxy https://example.com --pac ./proxy.pac
            """)

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @Option(help: ArgumentHelp("Run this proxy script (PAC) instead: a URL or a file.", valueName: "url|file"))
    var pac: String?

    @Argument(help: "URL with a scheme and a host.")
    var url: String

    func validate() throws {
        guard let url = URL(string: url), url.scheme != nil, let host = url.host(), !host.isEmpty else {
            throw ValidationError("'\(url)' is not a URL with a scheme and a host.")
        }
    }

    func run() async throws {
        try await reporting("proxy") {
            var answer = try ProxyAnswer(url, ProcessInfo.processInfo.environment, script: pac)
            await answer.ask()
            printLine(json ? answer.json() : answer.text)
            if answer.script?.failure != nil { throw ExitCode.failure }
        }
    }
}

/// The JSON object of `nw proxy`.
struct ProxyAnswer: Encodable {
    var url: String
    /// The proxy's URL without the credential; `nil` for a direct connection.
    var proxy: String?
    var hasCredential: Bool
    var reason: String
    /// The result from the proxy script; `nil` if no script selects the proxy.
    var script: PACAnswer?
    private var configuration: ProxyConfiguration?

    private enum CodingKeys: CodingKey { case url, proxy, hasCredential, reason, script }

    /// - Parameter script: A script to use instead of the environment.
    init(_ text: String, _ variables: [String: String], script: String?) throws {
        guard let url = URL(string: text), let scheme = url.scheme, let host = url.host(percentEncoded: false) else {
            throw CommandFailure("invalid URL: expected a scheme and a host")
        }
        self.url = text
        if let script {
            configuration = try PACChoice.configuration(script)
            (hasCredential, reason) = (false, "from the script \(configuration?.address ?? script)")
            return
        }
        // A rule in the proxy variables can depend on the port. Use the port in the URL. If the URL has none, use the
        // scheme's default port.
        let port = url.port.flatMap { NWEndpoint.Port("\($0)") } ?? NWEndpoint.Port(scheme.lowercased()) ?? .any
        let endpoint = NWEndpoint.hostPort(host: NWEndpoint.Host(host), port: port)
        let decision: ProxyConfiguration.EnvironmentDecision
        do {
            decision = try ProxyConfiguration.environmentDecision(for: endpoint, scheme: scheme, variables)
        } catch {
            // Do not print the variable's value, because it may contain a password.
            let hint = "; auto_proxy must contain the http:// or https:// URL of a script (PAC)"
            throw CommandFailure(
                "the proxy variable for \(scheme) URLs is not an http://, https:// or socks5:// URL\(hint)")
        }
        configuration = decision.proxy
        proxy = decision.proxy?.address
        hasCredential = decision.proxy?.hasCredential ?? false
        switch (decision.variable, decision.exception) {
        case (nil, _): reason = "no variable sets a proxy for \(scheme) URLs"
        case (let variable?, nil): reason = "from \(variable)"
        case (let variable?, let exception?): reason = "'\(exception)' is excluded from \(variable)"
        }
    }

    /// Runs the proxy script, if a script selects the proxy.
    mutating func ask() async {
        guard let url = URL(string: url), let decision = await configuration?.pacDecision(for: url) else { return }
        let answer = PACAnswer(decision)
        script = answer
        proxy = answer.ways.first.flatMap { $0 == "direct" ? nil : $0 }
    }

    func json() -> PrintableText {
        PrintableText(json: self, isIndented: true)
    }

    var text: PrintableText {
        if let script { return "\(reason):\n\(script.text)" }
        let way = proxy.map { hasCredential ? "\($0) with credentials" : $0 } ?? "direct"
        return "\(way): \(reason)"
    }
}
