import ArgumentParser
import Causeway
import CausewaySystem
import CausewayTypes
import Dispatch

/// `nw status`: shows the network paths to each address of a host, and the reason for their order. Can also connect to
/// the host, and print the connection's state while paths change.
struct StatusCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "status",
        abstract: "Show the network paths to a host, and follow a connection to it.",
        usage: "nw status [<options>] HOST [PORT]",
        discussion: """
            Lists each address of the host with its paths, best first. With --connect the command connects to PORT \
            and prints each call of the connection's handlers: its state, its path, whether packets can flow \
            (viable), and whether a better path is available (better).

            Examples:
              nw status example.com
              nw status 192.0.2.7 --watch           repeat when the network changes
              nw status 192.0.2.7 --prohibit wifi   paths that remain without Wi-Fi
              nw status example.com 443 --connect   follow a connection
            """)

    @Argument(help: "Name or address of the host.")
    var host: String

    @Argument(help: "Port to connect to; required with --connect.")
    var port: String?

    @Flag(help: "Continue, and print the paths again after each network change.")
    var watch = false

    @Flag(help: "Connect, and print each call of the connection's handlers.")
    var connect = false

    @Flag(name: [.customShort("u"), .customLong("udp")], help: "Use UDP instead of TCP.")
    var datagrams = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Option(help: "Use no interfaces of this type; may be repeated.")
    var prohibit: [PathCommand.Kind] = []

    @Flag(help: "Use no expensive interfaces.")
    var noExpensive = false

    @OptionGroup var multipath: MultipathOptions

    func validate() throws {
        if connect, port == nil { throw ValidationError("--connect requires PORT.") }
        if multipath.choice != nil, datagrams { throw ValidationError("--multipath cannot be combined with -u.") }
        if let port { _ = try parsePort(port) }
    }

    func run() async throws {
        try await reporting("status") {
            if connect { return try await untilInterrupted { try await multipath.whileGiven { try await follow() } } }
            try await show()
            guard watch else { return }
            try await untilInterrupted {
                var isFirst = true
                // The monitor only reports that something changed, so look up the paths again.
                for await _ in NWPathMonitor() {
                    if !isFirst { try await show() }
                    isFirst = false
                }
            }
        }
    }

    // MARK: Paths

    private struct Ways: Encodable {
        struct Way: Encodable {
            var interface: String
            var type: String
            var gateway: String?
            var source: String?
            var metric: Int
            var isSystemChoice: Bool
        }

        var address: String
        var status: String
        var ways: [Way]
    }

    private func show() async throws {
        for address in try await endpoints() {
            let inquiry = PathQuery.destination(
                address, prohibiting: prohibit.map(\.type), prohibitsExpensive: noExpensive)
            guard let inquiry else { continue }
            let ways = inquiry.ways.map { way in
                Ways.Way(
                    interface: way.interface.name, type: way.interface.type.label, gateway: way.gateway?.hostLabel,
                    source: way.source?.hostLabel, metric: way.metric, isSystemChoice: way.isSystemChoice)
            }
            let report = Ways(address: address.hostLabel, status: PathReport(inquiry.path).status, ways: ways)
            printLine(json ? PrintableText(json: report) : text(report))
        }
    }

    private func text(_ report: Ways) -> PrintableText {
        let lines = report.ways.enumerated().map { number, way in
            let gateway = way.gateway.map { "via \($0)" } ?? "on-link"
            let source = way.source.map { " from \($0)" } ?? ""
            let reason =
                way.isSystemChoice ? "selected by the system" : number == 0 ? "first usable path" : "fallback"
            return
                "  \(number + 1). \(way.interface) (\(way.type)) \(gateway)\(source), metric \(way.metric): \(reason)"
        }
        return PrintableText(lines: ["\(report.address): \(report.status)"] + lines)
    }

    private func endpoints() async throws -> [NWEndpoint] {
        let name = NWEndpoint.Host(host)
        let endpoint = NWEndpoint.hostPort(host: name, port: 1)
        guard case .name = name else { return [endpoint] }
        do {
            return try await addresses(ofHost: host, family: nil).map { NWEndpoint($0) }
        } catch {
            throw CommandFailure("\(host) has no address", error)
        }
    }

    // MARK: A connection

    private func follow() async throws {
        let parameters = datagrams ? NWParameters.udp : makeTCPParameters()
        multipath.apply(to: parameters)
        parameters.prohibitedInterfaceTypes = prohibit.isEmpty ? nil : prohibit.map(\.type)
        parameters.prohibitExpensivePaths = noExpensive
        let connection = NWConnection(
            host: NWEndpoint.Host(host), port: try parsePort(port ?? ""), using: parameters)
        let line = PathEventLine(isJSON: json)
        connection.pathUpdateHandler = { line.print("path", path: $0) }
        connection.viabilityUpdateHandler = { line.print("viable", "\($0)") }
        connection.betterPathUpdateHandler = { line.print("better", "\($0)") }
        let (ends, feed) = AsyncStream<Void>.makeStream()
        connection.stateUpdateHandler = { state in
            line.print("state", describe(state))
            if state == .cancelled { feed.finish() }
            if case .failed = state { connection.cancel() }
        }
        connection.start(queue: DispatchQueue(label: "nw.status", target: .global()))
        defer { connection.cancel() }
        // Keep a receive call pending. Without it, the connection would not notice that the peer has closed the
        // connection.
        receive(on: connection)
        for await _ in ends {}
    }

    private func receive(on connection: NWConnection) {
        connection.receive(minimumIncompleteLength: 1, maximumLength: 65_536) { content, _, isComplete, error in
            if content == nil, error != nil || (isComplete && !datagrams) { return }
            receive(on: connection)
        }
    }

    private func describe(_ state: NWConnection.State) -> String {
        switch state {
        case .setup: "setup"
        case .preparing: "preparing"
        case .ready: "ready"
        case .cancelled: "cancelled"
        case .waiting(let error): "waiting: \(nw.describe(error).text)"
        case .failed(let error): "failed: \(nw.describe(error).text)"
        }
    }
}
