import ArgumentParser
import Causeway
import CausewaySystem
import CausewayTypes
import FoundationEssentials

/// `nw path`: shows the interfaces and the default network path, once or after each change.
struct PathCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "path",
        abstract: "Show the interfaces and the network path, and follow its changes.",
        usage: "nw path [<options>]",
        discussion: """
            Shows the path that NWPathMonitor reports to programs. CAUSEWAY_INTERFACES, or the file \
            /etc/causeway/interfaces, overrides the type and cost of interfaces: usb0=cellular+expensive, \
            eth1=constrained.

            Examples:
              nw path
              nw path --watch                   print each change with its time
              nw path --watch --json | jq .     one JSON object per line
              nw path --type cellular           only cellular interfaces
              nw path --captive http://connectivity.example.com/204
            """)

    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case wifi, cellular, ethernet, loopback, other

        var type: NWInterface.InterfaceType {
            switch self {
            case .wifi: .wifi
            case .cellular: .cellular
            case .ethernet: .wiredEthernet
            case .loopback: .loopback
            case .other: .other
            }
        }
    }

    @Flag(help: "Continue, and print each change.")
    var watch = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Option(help: "Use only interfaces of this type.")
    var type: Kind?

    @Option(help: "Use no interfaces of this type; may be repeated.")
    var prohibit: [Kind] = []

    @Option(
        help: ArgumentHelp(
            "Detect a captive portal: request this URL, which must answer with status 204.", valueName: "url"))
    var captive: String?

    func validate() throws {
        if captive != nil, watch { throw ValidationError("--captive cannot be combined with --watch.") }
        guard type == nil || prohibit.isEmpty else {
            throw ValidationError("--type and --prohibit cannot be combined.")
        }
    }

    func run() async throws {
        try await reporting("path") {
            for mistake in PathQuery.mistakes {
                printError("nw: path: invalid entry '\(mistake)' in CAUSEWAY_INTERFACES: expected NAME=TYPE")
            }
            if let captive { return try await ask(captive) }
            guard watch else { return try await show() }
            try await untilInterrupted { await follow() }
        }
    }

    /// Probes for a captive portal. Exit code 0 means that the network is open.
    private func ask(_ address: String) async throws {
        guard let url = URL(string: address), let probe = try? CaptiveNetworkProbe(url: url) else {
            throw CommandFailure("--captive requires an http:// URL")
        }
        switch await probe.run() {
        case .open: printLine("open")
        case .captive(let portal):
            printLine("captive\(portal.map { ": \($0.absoluteString)" } ?? "")")
            throw ExitCode.failure
        case .failed(let error): throw CommandFailure("request of \(address) failed", error)
        }
    }

    private func makeMonitor() -> NWPathMonitor {
        if let type { return NWPathMonitor(requiredInterfaceType: type.type) }
        return prohibit.isEmpty ? NWPathMonitor() : NWPathMonitor(prohibitedInterfaceTypes: prohibit.map(\.type))
    }

    private func show() async throws {
        let monitor = makeMonitor()
        defer { monitor.cancel() }
        for await path in monitor {
            printLine(json ? PrintableText(json: PathReport(path)) : PathTable(PathQuery.everywhere(), path).text())
            return
        }
    }

    private func follow() async {
        let line = PathEventLine(isJSON: json)
        let isTerminal = OpenFile.standardOutput.kind == .terminal && !json
        let monitor = makeMonitor()
        for await path in monitor {
            if isTerminal { printLine("\u{1B}[H\u{1B}[2J" + PathTable(PathQuery.everywhere(), path).text() + "\n") }
            line.print("path", path: path)
        }
    }
}

/// Formats interfaces and path as a table.
struct PathTable {
    private let inquiry: PathQuery
    private let path: NWPath

    init(_ inquiry: PathQuery, _ path: NWPath) {
        self.inquiry = inquiry
        self.path = path
    }

    func text() -> PrintableText {
        let rows = inquiry.interfaces.map { known -> [String] in
            let marks = [(known.isExpensive, "expensive"), (known.isConstrained, "constrained")].filter(\.0).map(\.1)
            let state =
                switch known.link {
                case .down: "down"
                case .noCarrier: "no carrier"
                case .carrying: "up"
                }
            return [
                known.interface.name, known.interface.type.label, state, marks.joined(separator: " "),
                known.addresses.joined(separator: " "),
            ]
        }
        let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            (0..<4).map { row[$0].padded(to: widths[$0]) }.joined(separator: "  ") + "  " + row[4]
        }
        return PrintableText(lines: lines + ["path: \(PathReport(path).text)"])
    }
}
