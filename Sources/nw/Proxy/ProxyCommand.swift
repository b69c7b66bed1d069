import ArgumentParser
import Causeway
import CausewayTypes
import FoundationEssentials

/// `nw proxy`: shows which proxy the environment selects for a URL, and why.
struct ProxyCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "proxy",
        abstract: "Say which proxy the environment wants for a URL, and why.",
        discussion: """
            http_proxy and HTTP_PROXY are for http and ws, https_proxy and HTTPS_PROXY for https and wss, all_proxy and \
            ALL_PROXY for the rest; no_proxy or NO_PROXY lists domains, addresses and networks that need none. This \
            host itself never needs one. auto_proxy names a script (PAC), which is fetched and asked, as is that of --pac; \
            it is told no path and query of https URLs. Nothing else is connected to. 'nw cat' and 'nw connect' follow \
            the environment with --proxy env, and a script with --proxy pac+http://HOST/PATH.

            Examples:
              nw proxy https://example.com
              nw proxy http://10.0.0.7:8080/path --json
              nw proxy https://example.com --pac http://wpad.example/proxy.pac
              nw proxy https://example.com --pac ./proxy.pac
            """)

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @Option(help: ArgumentHelp("Ask this script instead: a URL or a file.", valueName: "url|file"))
    var pac: String?

    @Argument(help: "A URL.")
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
    /// The result of the proxy script, if a script decides.
    var script: PACAnswer?
    private var configuration: ProxyConfiguration?

    private enum CodingKeys: CodingKey { case url, proxy, hasCredential, reason, script }

    /// - Parameter script: A script to use instead of the environment.
    init(_ text: String, _ variables: [String: String], script: String?) throws {
        guard let url = URL(string: text), let scheme = url.scheme, let host = url.host(percentEncoded: false) else {
            throw CommandFailure("no URL")
        }
        self.url = text
        if let script {
            configuration = try PACChoice.configuration(script)
            (hasCredential, reason) = (false, "by the script \(configuration?.address ?? script)")
            return
        }
        // The rules may depend on the port: the URL's port, or the default port of the scheme.
        let port = url.port.flatMap { NWEndpoint.Port("\($0)") } ?? NWEndpoint.Port(scheme.lowercased()) ?? .any
        let endpoint = NWEndpoint.hostPort(host: NWEndpoint.Host(host), port: port)
        let decision: ProxyConfiguration.EnvironmentDecision
        do {
            decision = try ProxyConfiguration.environmentDecision(for: endpoint, scheme: scheme, variables)
        } catch {
            // The message does not include the value, which may contain a password.
            let hint = "; a script (PAC) is named by auto_proxy, and is on a web server"
            throw CommandFailure(
                "the environment names no http://, https:// or socks5:// proxy for \(scheme) URLs\(hint)")
        }
        configuration = decision.proxy
        proxy = decision.proxy?.address
        hasCredential = decision.proxy?.hasCredential ?? false
        switch (decision.variable, decision.exception) {
        case (nil, _): reason = "no variable names a proxy for \(scheme) URLs"
        case (let variable?, nil): reason = "by \(variable)"
        case (let variable?, let exception?): reason = "'\(exception)' is excepted from \(variable)"
        }
    }

    /// Runs the proxy script, if a script decides.
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
        let way = proxy.map { hasCredential ? "\($0) with a credential" : $0 } ?? "direct"
        return "\(way): \(reason)"
    }
}
