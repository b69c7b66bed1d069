import ArgumentParser
import Causeway

/// `nw tls`: shows a server's TLS settings and its certificates' problems.
struct TLSCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "tls",
        abstract: "Check a server's TLS: certificates, protocol, times, problems and fixes.",
        usage: "nw tls [<options>] HOST[:PORT] [PORT]",
        discussion: """
            Connects, completes the handshake and closes; no application data is sent. The certificates are \
            validated with the rules of every connection, and are shown even if validation fails.

            Examples:
              nw tls example.com                      port 443, system authorities
              nw tls --alpn h2 --alpn http/1.1 example.com
              nw tls --ca root.pem 127.0.0.1:8443     only authorities in a file
              nw tls example.com 8443                 the port as for nw cat
              nw tls --servername www.example.com 192.0.2.7:443
              nw tls --json '[2001:db8::1]:443'       one JSON object

            Exit codes:
              0   the server is trusted
              1   the server is not trusted
              2   no TLS connection could be made
              64  usage error
            """)

    @Option(help: ArgumentHelp("Offer this application protocol; may be repeated.", valueName: "protocol"))
    var alpn: [String] = []

    @Option(help: ArgumentHelp("Trust only the certificates in FILE (PEM).", valueName: "file"))
    var ca: String?

    @Option(help: ArgumentHelp("Request this server name (SNI), and require it in the certificate.", valueName: "name"))
    var servername: String?

    @Option(
        name: [.customShort("p"), .long], help: ArgumentHelp("Connect to this port. (default: 443)", valueName: "port"))
    var port: String?

    @Option(
        name: [.customShort("w", allowingJoined: true)],
        help: ArgumentHelp("Give up after SECONDS.", valueName: "seconds"))
    var timeout = 15.0

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @Argument(help: "HOST or HOST:PORT.")
    var address: String

    @Argument(help: ArgumentHelp("Port to connect to, like -p.", valueName: "port"))
    var second: String?

    func validate() throws {
        guard timeout > 0, timeout <= 1_000_000 else {
            throw ValidationError("-w must be more than 0 and at most 1000000 seconds.")
        }
        for name in alpn where !(1...255).contains(name.utf8.count) {
            throw ValidationError("'\(name)' is not an application protocol: a protocol name has 1 to 255 bytes.")
        }
        if port != nil, second != nil { throw ValidationError("Specify the port once: with -p or after the host.") }
        _ = try target()
    }

    func run() async throws {
        let diagnosis: TLSDiagnosis
        do {
            var rules = NWProtocolTLS.Options.TrustRules()
            if let ca {
                rules.includesSystemAnchors = false
                do {
                    rules.anchors = try NWProtocolTLS.Options.TrustRules.certificates(inFile: ca)
                } catch {
                    throw CommandFailure("cannot read certificates from \(ca)", error)
                }
            }
            let probe = TLSProbe(
                target: try target(), serverName: servername, applicationProtocols: alpn, rules: rules,
                limit: .seconds(timeout))
            diagnosis = try await TLSDiagnosis(probe.run(), of: probe)
        } catch {
            printError("nw: tls: \(describe(error))")
            throw ExitCode(2)
        }
        printLine(json ? diagnosis.json() : diagnosis.text())
        guard diagnosis.isTrusted else { throw ExitCode.failure }
    }

    /// Splits the argument into host and port at the last colon. With several colons and no brackets, the whole text is an IPv6 address.
    func target() throws -> Target {
        var host = address[...]
        let given = port ?? second
        var service = given ?? "443"
        if host.first == "[" {
            guard let end = host.lastIndex(of: "]") else {
                throw ValidationError("'\(address)' has no closing bracket.")
            }
            let rest = host[host.index(after: end)...]
            guard rest.isEmpty || rest.first == ":" else {
                throw ValidationError("'\(address)' does not have the form HOST[:PORT].")
            }
            if !rest.isEmpty {
                try checkSinglePort(given)
                service = String(rest.dropFirst())
            }
            host = host[host.index(after: host.startIndex)..<end]
        } else if let colon = host.firstIndex(of: ":"), colon == host.lastIndex(of: ":") {
            try checkSinglePort(given)
            service = String(host[host.index(after: colon)...])
            host = host[..<colon]
        }
        guard !host.isEmpty else { throw ValidationError("'\(address)' has no host.") }
        return Target(host: NWEndpoint.Host(String(host)), port: try parsePort(service))
    }

    private func checkSinglePort(_ given: String?) throws {
        if given != nil { throw ValidationError("'\(address)' has a port already: specify the port once.") }
    }
}
