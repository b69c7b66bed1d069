import ArgumentParser
import Causeway
import CausewayHTTPServer
import CausewaySystem
import CausewayTypes

/// `nw serve http`: serves the files of a directory.
///
/// Its options differ from those of the other servers, so it is a separate command. ``Program`` recognizes its two words, because the
/// parser would take the second one for the argument of ``ServeCommand``.
struct ServeHTTPCommand: Subcommand {
    static let words = ["serve", "http"]
    static let outline = CommandConfiguration(
        commandName: "serve http",
        abstract: "Serve the files of a directory over HTTP.",
        usage: "nw serve http [<options>] DIR",
        discussion: """
            HTTP/1.1 and HTTP/2, with ranges and conditional requests. A directory with
            a file index.html shows that file, any other directory a list of its files.
            Names that begin with a dot are hidden. Symbolic links are not followed.
            Standard error gets one line per request: client, request, status, bytes
            and time.

            Examples:
              nw serve http . --port 8080
              nw serve http site --port 0 --host 127.0.0.1
              nw serve http inbox --port 8080 --upload
              curl -T report.pdf http://localhost:8080/
              nw serve http . --port 8443 --tls
              nw serve http . --port 8080 --advertise "My files"

            Exit codes:
              1         the port or the directory cannot be used
              64        usage error
              130, 143  ended by SIGINT or SIGTERM; requests in progress had 2 seconds
                        to end
            """)

    /// The time that requests in progress get to end after an interrupt.
    private static let drainLimit = Duration.seconds(2)

    @Argument(help: ArgumentHelp("Serve the files of this directory.", valueName: "dir"))
    var directory: String

    @OptionGroup var listening: ListeningOptions

    @Flag(help: "Let clients create files with PUT. Existing files are never replaced.")
    var upload = false

    @Option(help: ArgumentHelp("Refuse uploads of more than this many MiB.", valueName: "mebibytes"))
    var maxUpload = 1_024

    @Flag(help: "Use TLS, with a certificate made for this run unless --cert names one.")
    var tls = false

    @OptionGroup var certificate: ServingCertificate

    @Option(help: ArgumentHelp("Advertise the server on the local network, as _http._tcp.", valueName: "name"))
    var advertise: String?

    @Flag(name: .shortAndLong, help: "Report no requests.")
    var quiet = false

    func validate() throws {
        if certificate.cert != nil, !tls { throw ValidationError("--cert requires --tls.") }
        if !(1...1 << 40).contains(maxUpload) { throw ValidationError("--max-upload must be more than 0.") }
    }

    func run() async throws {
        try await reporting("serve") {
            let made = tls && certificate.cert == nil ? try MadeCertificate(for: listening.host) : nil
            try await serve(try makeServer(made?.identity), fingerprint: made?.fingerprint)
        }
    }

    /// - Parameter made: The identity of a certificate made for this run.
    private func makeServer(_ made: sec_identity_t?) throws -> HTTPServer {
        var options: HTTPServerDirectory.Options = [.listing]
        if upload { options.insert(.uploads) }
        let files: HTTPServerDirectory
        do {
            files = try HTTPServerDirectory(directory, options: options)
        } catch {
            let reason: PrintableText = error.status == 403 ? "Permission denied" : "No such directory"
            throw CommandFailure("cannot serve \(PrintableText(foreign: directory)): \(reason)")
        }
        var configuration = HTTPServer.Configuration()
        configuration.maximumContentLength = upload ? maxUpload << 20 : 0
        if !quiet { configuration.exchangeHandler = { printError(AccessLine.text(of: $0)) } }
        let parameters = try makeParameters(made)
        let host = listening.host
        let place = NWEndpoint.Port(integerLiteral: listening.port)
        if let host { parameters.requiredLocalEndpoint = .hostPort(host: NWEndpoint.Host(host), port: place) }
        do {
            let server = try HTTPServer(
                using: parameters, on: host == nil ? place : .any, configuration: configuration
            ) { request in
                guard let path = request.decodedPath else { throw HTTPServerError(status: 400, "malformed path") }
                return try await files.respond(to: request, path: path)
            }
            server.advertisedService = advertise.map { NWListener.Service(name: $0, type: "_http._tcp") }
            return server
        } catch {
            throw CommandFailure("listening on port \(listening.port) failed", error)
        }
    }

    private func makeParameters(_ made: sec_identity_t?) throws -> NWParameters {
        let parameters = HTTPServer.defaultParameters
        guard tls else { return parameters }
        let options = NWProtocolTLS.Options()
        if let identity = try certificate.identity() ?? made {
            sec_protocol_options_set_local_identity(options.securityProtocolOptions, identity)
        }
        parameters.defaultProtocolStack.applicationProtocols = [options]
        return parameters
    }

    /// Serves until an interrupt. Then requests in progress have two seconds to end. A second interrupt ends the process immediately.
    private func serve(_ server: HTTPServer, fingerprint: String?) async throws {
        let port = listening.port
        let (ended, feed) = AsyncStream<Never>.makeStream()
        @Sendable func run() async throws {
            defer { feed.finish() }
            do {
                try await server.run { port in
                    printLine("listening on port \(port.rawValue)")
                    if let fingerprint { printLine("certificate made for this run, SHA-256 \(fingerprint)") }
                }
            } catch {
                throw CommandFailure("listening on port \(port) failed", error)
            }
        }
        async let serving: Void = run()
        do {
            try await untilInterrupted { for await _ in ended {} }
        } catch let code as ExitCode where code.rawValue > 128 {
            server.shutDown(within: Self.drainLimit)
            try? await serving
            throw code
        }
        try await serving
    }
}

extension HTTPServerRequest {
    /// The path without its first slash and without percent-encoding; `nil` if it is malformed.
    fileprivate var decodedPath: String? {
        guard path.hasPrefix("/") else { return nil }
        return PercentCoding.decoded(path.dropFirst())
    }
}

/// A line of the access log.
enum AccessLine {
    static func text(of exchange: HTTPServer.Exchange) -> PrintableText {
        let request = exchange.request
        let target = request.query.map { "\(request.path)?\($0)" } ?? request.path
        let time = Amounts.decimal(exchange.duration / .milliseconds(1), places: 1)
        let client = PrintableText(foreign: "\(request.remoteEndpoint)")
        let first = PrintableText(foreign: "\(request.method) \(target) \(request.version)")
        let amount = Amounts.bytes(UInt64(max(0, exchange.sentByteCount)))
        return "\(client) \"\(first)\" \(exchange.status) \(amount) \(time) ms"
    }
}
