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
        discussion: """
            What path monitors of programs are told. CAUSEWAY_INTERFACES, or the file /etc/causeway/interfaces, corrects what the \
            system says of interfaces: usb0=cellular+expensive, eth1=constrained.

            Examples:
              nw path
              nw path --watch                   every change, with its time; on a terminal the table as well
              nw path --watch --json | jq .     one JSON object a line
              nw path --type cellular           of interfaces of one type
              nw path --captive http://connectivity.example.com/204    does somebody have to log in first?
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

    @Flag(help: "Go on, and print each change.")
    var watch = false

    @Flag(help: "Print JSON, an object a line.")
    var json = false

    @Option(help: "Only interfaces of this type.")
    var type: Kind?

    @Option(help: "No interfaces of this type; may be given several times.")
    var prohibit: [Kind] = []

    @Option(
        help: ArgumentHelp(
            "Ask a web server of yours, which answers with status 204, whether the network is open.", valueName: "url"))
    var captive: String?

    func validate() throws {
        if captive != nil, watch { throw ValidationError("--captive excludes --watch.") }
        guard type == nil || prohibit.isEmpty else { throw ValidationError("Give --type or --prohibit, not both.") }
    }

    func run() async throws {
        try await reporting("path") {
            for mistake in PathQuery.mistakes {
                printError("nw: path: CAUSEWAY_INTERFACES: '\(mistake)' means nothing")
            }
            if let captive { return try await ask(captive) }
            guard watch else { return try await show() }
            try await untilInterrupted { await follow() }
        }
    }

    /// Probes for a captive portal. Exit code 0 means that the network is open.
    private func ask(_ address: String) async throws {
        guard let url = URL(string: address), let probe = try? CaptiveNetworkProbe(url: url) else {
            throw CommandFailure("--captive needs a URL of the scheme http")
        }
        switch await probe.run() {
        case .open: printLine("open")
        case .captive(let portal):
            printLine("captive\(portal.map { ": \($0.absoluteString)" } ?? "")")
            throw ExitCode.failure
        case .failed(let error): throw CommandFailure("\(address)", error)
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
            let state = known.isCarrying ? "works" : known.isUp ? "no carrier" : "off"
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
