import ArgumentParser
import Causeway
import CausewayHTTPServer
import CausewaySystem
import CausewayTypes

/// Options shared by the tool's HTTP servers, and the code that runs these servers.
struct HTTPServingOptions: ParsableArguments {
    /// How long requests in progress may take to end after an interrupt.
    private static let drainLimit = Duration.seconds(2)

    @OptionGroup var listening: ListeningOptions

    @Flag(help: "Use TLS, with a certificate made for this run unless --cert names one.")
    var tls = false

    @OptionGroup var certificate: ServingCertificate

    @Option(help: ArgumentHelp("Advertise the server on the local network, as _http._tcp.", valueName: "name"))
    var advertise: String?

    @Flag(name: .shortAndLong, help: "Report no requests.")
    var quiet = false

    func validate() throws {
        if certificate.cert != nil, !tls { throw ValidationError("--cert requires --tls.") }
    }

    /// Serves until an interrupt. Then requests in progress have two seconds to end. A second interrupt ends the process immediately.
    ///
    /// - Throws: ``CommandFailure``; `ExitCode` after an interrupt.
    func serve(_ configuration: HTTPServer.Configuration, _ handler: @escaping HTTPServer.Handler) async throws {
        let made = tls && certificate.cert == nil ? try MadeCertificate(for: listening.host) : nil
        var configuration = configuration
        if !quiet { configuration.exchangeHandler = { printError(AccessLine.text(of: $0)) } }
        try await serve(try makeServer(configuration, made?.identity, handler), fingerprint: made?.fingerprint)
    }

    /// - Parameter made: The identity from a certificate that was created for this run.
    private func makeServer(
        _ configuration: HTTPServer.Configuration, _ made: sec_identity_t?, _ handler: @escaping HTTPServer.Handler
    ) throws -> HTTPServer {
        let parameters = try makeParameters(made)
        let host = listening.host
        let place = NWEndpoint.Port(integerLiteral: listening.port)
        if let host { parameters.requiredLocalEndpoint = .hostPort(host: NWEndpoint.Host(host), port: place) }
        do {
            let server = try HTTPServer(
                using: parameters, on: host == nil ? place : .any, configuration: configuration, handler: handler)
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

/// An access log line.
enum AccessLine {
    static func text(of exchange: HTTPServer.Exchange) -> PrintableText {
        let request = exchange.request
        let target = request.query.map { "\(request.path)?\($0)" } ?? request.path
        let time = Amounts.decimal(exchange.duration / .milliseconds(1), places: 1)
        let client = PrintableText(foreign: "\(request.remoteEndpoint)")
        let first = PrintableText(foreign: "\(request.method) \(target) \(request.version)")
        let amount = Amounts.bytes(UInt64(max(0, exchange.sentByteCount)))
        let status: PrintableText = exchange.status == 0 ? "-" : "\(exchange.status)"
        // Print the reason only for a server error, or if there was no response. For a client error, the status tells
        // enough.
        let isFailed = exchange.status == 0 || exchange.status >= 500
        let reason: PrintableText = isFailed ? exchange.error.map { ": \(describe($0))" } ?? "" : ""
        return "\(client) \"\(first)\" \(status) \(amount) \(time) ms\(reason)"
    }
}
