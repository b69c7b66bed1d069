import ArgumentParser
import Causeway
import CausewayRuntime
import CausewayTypes
import CausewayWire

/// `nw types`: lists the service types on the local network.
struct TypesCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "types",
        abstract: "List the types of services on the local network.",
        discussion: """
            Prints each type once, when the first host reports a service of it (RFC 6763 §9).

            Examples:
              nw types
              nw types -t 10 --json
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("Listen for SECONDS.", valueName: "seconds"))
    var time = 3.0

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Option(name: .shortAndLong, help: "Query on this interface only.", completion: .interfaces)
    var interface: String?

    func validate() throws {
        guard time > 0, time <= 1_000_000 else {
            throw ValidationError("--time must be more than 0 and at most 1000000 seconds.")
        }
    }

    func run() async throws {
        try await reporting("types") {
            let watch = try RecordWatch(
                name: "_services._dns-sd._udp.local", type: "PTR", interfaceIndex: try interfaceIndex(interface))
            var seen: Set<String> = []
            // The target of each record should be a service type: two labels and the domain `local`, such as
            // `_http._tcp.local`. Ignore records with other targets.
            for await case .added(let record) in watch.events(for: .seconds(time)) {
                guard let target = record.target, target.droppingFirst(2) == .local,
                    let label = DNSName(labels: target.labels.prefix(2))
                else { continue }
                let type = String(label.description.dropLast())
                guard seen.insert(type).inserted else { continue }
                let object = ["type": type, "domain": "local.", "interface": record.interface.name]
                printLine(json ? PrintableText(json: object) : "\(type) local. [\(record.interface.name)]")
            }
            if seen.isEmpty {
                throw CommandFailure(
                    "no host on the local network reported a service; nw doctor checks whether Bonjour works on this host"
                )
            }
        }
    }
}

/// Returns the index of a named interface; `nil` without a name.
///
/// - Throws: ``CommandFailure`` if there is no such interface.
func interfaceIndex(_ name: String?) throws -> Int? {
    try name.map { try namedInterface($0).index }
}

func namedInterface(_ name: String) throws -> NWInterface {
    guard let found = NWInterface(name: name) else {
        throw CommandFailure("no interface is named \(name); nw interfaces lists the interfaces")
    }
    return found
}
