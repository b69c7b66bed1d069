import ArgumentParser
import Causeway
import CausewayRuntime
import CausewayTypes
import Dispatch
import FoundationEssentials
import Synchronization

/// `nw connect`: connects once and reports how the connection was established.
struct ConnectCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "connect",
        abstract: "Connect once, and report the address that was connected to.",
        usage: "nw connect [<options>] <host> <port>",
        discussion: """
            No application data is sent. With --timeline each DNS query, connection attempt and handshake is shown \
            with its time, even if the connection fails.

            Examples:
              nw connect example.com 80
              nw connect example.com 443 --tls --timeline
              nw connect example.com https --timeline --json
              nw connect example.com 443 --tls --proxy socks5://127.0.0.1:1080
            """)

    @Flag(help: "Show queries, attempts and handshakes on a timeline.")
    var timeline = false

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @Flag(help: "Use TLS; the handshake is part of the measured connection.")
    var tls = false

    @Option(help: ProxyChoice.help) var proxy: [String] = []

    @Flag(name: .customShort("4"), help: "Use IPv4 only.")
    var v4Only = false

    @Flag(name: .customShort("6"), help: "Use IPv6 only.")
    var v6Only = false

    @Flag(help: "Use expired DNS records while new ones are queried.")
    var expired = false

    @Option(
        name: [.customShort("w", allowingJoined: true)],
        help: ArgumentHelp("Give up after SECONDS.", valueName: "seconds"))
    var timeout = 10.0

    @Argument(help: "Host name or address.")
    var host: String

    @Argument(help: "Port number or service name.")
    var port: String

    func validate() throws {
        if v4Only, v6Only { throw ValidationError("-4 and -6 cannot be combined.") }
        guard timeout > 0, timeout <= 1_000_000 else {
            throw ValidationError("-w must be more than 0 and at most 1000000 seconds.")
        }
        _ = try parsePort(port)
        try ProxyChoice(proxy, scheme: tls ? "https" : "tcp").check()
    }

    func run() async throws {
        try await reporting("connect") {
            let parameters = makeTCPParameters(tls: tls ? NWProtocolTLS.Options() : nil)
            (v4Only ? AddressFamily.v4 : v6Only ? .v6 : .any).apply(to: parameters)
            if expired { parameters.expiredDNSBehavior = .allow }
            try ProxyChoice(proxy, scheme: tls ? "https" : "tcp").apply(to: parameters)
            let connection = NWConnection(host: NWEndpoint.Host(host), port: try parsePort(port), using: parameters)
            var failure: (any Error)?
            let unfinished = UnfinishedFacts()
            do {
                try await connection.connect(within: .seconds(timeout)) { unfinished.take(from: $0) }
            } catch {
                failure = error
            }
            let report = await ConnectReport(
                connection, unfinished.facts, problem: failure.map { describe($0).text })
            connection.cancel()
            if json {
                printLine(report.json())
            } else if timeline {
                printLine(report.picture())
            }
            if let failure { throw failure }
            if !json, !timeline { printLine("\(report.winner ?? connection.endpoint.label)") }
        }
    }
}

/// The connection's state when the command gave up. It is saved because cancelling the connection discards it.
private final class UnfinishedFacts: Sendable {
    private let latest = Mutex<EstablishmentFacts?>(nil)

    var facts: EstablishmentFacts? { latest.withLock { $0 } }

    /// Stores the history of the connection so far. Then cancels the connection.
    func take(from connection: NWConnection) {
        connection.driver.reportProgress { facts in
            self.latest.withLock { $0 = facts }
            connection.cancel()
        }
    }
}

/// A connection's establishment as the JSON object of `nw connect`. Times are milliseconds since the start.
struct ConnectReport: Encodable {
    struct Entry: Encodable {
        /// The kind of step: `query`, `attempt` or `handshake`.
        var kind: String
        var label: String
        var start: Double
        var end: Double?
        var outcome: String
    }

    var winner: String?
    var interface: String?
    /// The proxy's name, if the connection uses a proxy. `winner` is then the address of the proxy.
    var proxy: String?
    var total: Double?
    var entries: [Entry]
    var problem: String?

    /// Creates a report about the establishment of a connection.
    ///
    /// - Parameter unfinished: The progress so far, if the connection was cancelled before it was ready.
    init(_ connection: NWConnection, _ unfinished: EstablishmentFacts?, problem: String?) async {
        let facts = unfinished ?? connection.driver.establishment ?? connection.driver.defeat
        self.problem = problem
        entries = (facts?.timeline ?? []).map { entry in
            Entry(
                kind: entry.kind, label: entry.label, start: entry.start * 1_000, end: entry.end.map { $0 * 1_000 },
                outcome: entry.failure.map { describe($0.networkError).text } ?? entry.outcome)
        }
        if problem != nil { noteUnfinished(facts, of: connection.endpoint) }
        guard problem == nil, let facts else { return }
        winner = connection.currentPath?.remoteEndpoint?.label
        interface = connection.currentPath?.availableInterfaces.first?.name
        total = (facts.finished - facts.started) / .milliseconds(1)
        let report = await withCheckedContinuation { continuation in
            connection.requestEstablishmentReport(queue: .global()) { continuation.resume(returning: $0) }
        }
        proxy = report?.proxyEndpoint?.label
        var start = facts.connected.map { ($0 - facts.started) / .milliseconds(1) } ?? 0
        for handshake in report?.handshakes.dropFirst() ?? [] {
            let end = start + handshake.handshakeDuration * 1_000
            entries.append(
                Entry(kind: "handshake", label: handshake.definition.name, start: start, end: end, outcome: "ready"))
            start = end
        }
    }

    /// Adds an entry for the step that did not finish.
    ///
    /// This step is the handshakes if the transport is connected. Otherwise it is a name query without any answer.
    private mutating func noteUnfinished(_ facts: EstablishmentFacts?, of endpoint: NWEndpoint) {
        if let connected = facts?.connected, let started = facts?.started {
            let start = (connected - started) / .milliseconds(1)
            entries.append(Entry(kind: "handshake", label: "protocols", start: start, end: nil, outcome: "unfinished"))
        } else if entries.isEmpty, case .hostPort(.name(let name, _), _) = endpoint {
            entries.append(Entry(kind: "query", label: "name \(name)", start: 0, end: nil, outcome: "unfinished"))
        }
    }

    func json() -> PrintableText {
        PrintableText(json: self, isIndented: true)
    }

    /// Returns a line for each entry, with a bar from the step's start to its end.
    func picture() -> PrintableText {
        PrintableText(lines: Self.bars(entries, end: total ?? 0) + [summary].compactMap { $0 })
    }

    /// Returns a timeline's lines.
    ///
    /// - Parameter end: The timeline's end in milliseconds, if it is later than all steps.
    static func bars(_ entries: [Entry], end: Double) -> [String] {
        let last = max(entries.map { $0.end ?? $0.start }.max() ?? 0, end, 0.001)
        let width = 40
        return entries.map { entry -> String in
            let begin = min(width - 1, Int(entry.start / last * Double(width)))
            let end = max(begin + 1, min(width, Int(((entry.end ?? last) / last * Double(width)).rounded(.up))))
            let bar =
                String(repeating: " ", count: begin)
                + String(repeating: entry.kind == "query" ? "-" : "=", count: end - begin)
            let times =
                Amounts.decimal(entry.start, places: 1) + "-" + (entry.end.map { Amounts.decimal($0, places: 1) } ?? "")
            return bar.padded(to: width) + "  " + (times + " ms").padded(to: 18)
                + "  \(entry.kind) \(entry.label): \(entry.outcome)"
        }
    }

    /// The line that says whether the connection was established; `nil` if neither a winner nor a problem is known.
    var summary: String? {
        if let winner {
            let way = interface.map { " over \($0)" } ?? ""
            let role = proxy == nil ? "" : "the proxy "
            return "connected to \(role)\(winner)\(way) in \(Amounts.decimal(total ?? 0, places: 1)) ms"
        }
        return problem.map { "not connected: \($0)" }
    }
}
