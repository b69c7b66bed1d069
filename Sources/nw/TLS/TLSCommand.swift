import ArgumentParser
import Causeway

/// `nw tls`: shows a server's TLS settings and the problems of its certificates.
struct TLSCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "tls",
        abstract: "Show a server's TLS: certificates, protocol, times, and what is wrong and how to mend it.",
        usage: "nw tls [<options>] HOST[:PORT]",
        discussion: """
            Connects, looks and hangs up; nothing is sent. The certificates are judged by the rules of every \
            connection, and shown whatever the judgement is.

            Examples:
              nw tls example.com                      port 443, judged by this system's authorities
              nw tls --alpn h2 --alpn http/1.1 example.com
              nw tls --ca root.pem 127.0.0.1:8443     judged by the authorities of a file alone
              nw tls --servername www.example.com 192.0.2.7:443
              nw tls --json '[2001:db8::1]:443'       one JSON object

            Exit codes:
              0   the server is trusted
              1   it is not
              2   no TLS connection could be made
              64  wrong usage
            """)

    @Option(help: ArgumentHelp("Offer this application protocol; may be given several times.", valueName: "protocol"))
    var alpn: [String] = []

    @Option(help: ArgumentHelp("Trust the certificates in this file (PEM), and no others.", valueName: "file"))
    var ca: String?

    @Option(help: ArgumentHelp("Ask for this name, and expect it in the certificate.", valueName: "name"))
    var servername: String?

    @Option(name: [.customShort("p"), .long], help: ArgumentHelp("Port; 443 if it is not given.", valueName: "port"))
    var port: String?

    @Option(
        name: [.customShort("w", allowingJoined: true)],
        help: ArgumentHelp("Give up after this time.", valueName: "seconds"))
    var timeout = 15.0

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @Argument(help: "HOST or HOST:PORT.")
    var address: String

    func validate() throws {
        guard timeout > 0, timeout <= 1_000_000 else { throw ValidationError("-w needs a positive number of seconds.") }
        for name in alpn where !(1...255).contains(name.utf8.count) {
            throw ValidationError("'\(name)' is no application protocol: it has 1 to 255 bytes.")
        }
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
                    throw CommandFailure("no certificates can be read from \(ca)", error)
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
        var service = port ?? "443"
        if host.first == "[" {
            guard let end = host.lastIndex(of: "]") else {
                throw ValidationError("'\(address)' has no closing bracket.")
            }
            let rest = host[host.index(after: end)...]
            guard rest.isEmpty || rest.first == ":" else { throw ValidationError("'\(address)' is not HOST[:PORT].") }
            if !rest.isEmpty { service = String(rest.dropFirst()) }
            host = host[host.index(after: host.startIndex)..<end]
        } else if let colon = host.firstIndex(of: ":"), colon == host.lastIndex(of: ":") {
            service = String(host[host.index(after: colon)...])
            host = host[..<colon]
        }
        guard !host.isEmpty else { throw ValidationError("'\(address)' names no host.") }
        return Target(host: NWEndpoint.Host(String(host)), port: try parsePort(service))
    }
}
