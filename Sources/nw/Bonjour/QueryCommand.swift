import ArgumentParser
import CausewayRuntime
import CausewayTypes

/// `nw query`: queries DNS records on the local network (multicast DNS).
struct QueryCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "query",
        abstract: "Query the records of a name by multicast DNS.",
        usage: "nw query [<options>] <name> [<type>]",
        discussion: """
            Each line begins with + (record added) or - (record removed). For names outside .local, use nw resolve \
            --type.

            Examples:
              nw query printer.local A
              nw query _http._tcp.local PTR -t 10
              nw query 'My page._http._tcp.local' TXT --json
              nw query printer.local ANY --first
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("Listen for SECONDS.", valueName: "seconds"))
    var time = 3.0

    @Flag(help: "Exit after the first answer.")
    var first = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Option(name: .shortAndLong, help: "Query on this interface only.", completion: .interfaces)
    var interface: String?

    @Argument(help: "Name to query; a dot within a label is written \\. and a backslash \\\\.")
    var name: String

    @Argument(help: "Record type, such as A, AAAA, PTR, SRV, TXT, ANY or TYPE65.")
    var type = "ANY"

    func validate() throws {
        guard time > 0, time <= 1_000_000 else {
            throw ValidationError("--time must be more than 0 and at most 1000000 seconds.")
        }
    }

    func run() async throws {
        try await reporting("query") {
            let watch: RecordWatch
            do {
                watch = try RecordWatch(name: name, type: type, interfaceIndex: try interfaceIndex(interface))
            } catch let mistake as RecordWatch.Mistake {
                throw ValidationError(
                    mistake == .name ? "'\(name)' is not a domain name." : "'\(type)' is not a record type.")
            }
            guard watch.isOfLink else {
                throw CommandFailure(
                    "\(name) is not a name of the local network: use nw resolve \(name) --type \(type)")
            }
            switch await follow(watch.events(for: .seconds(time))) {
            case .found: return
            case .denied: throw CommandFailure("the host of \(name) has no record of type \(type)")
            case .silence: throw CommandFailure("no host on the local network answered the query for \(name) \(type)")
            }
        }
    }

    private enum Outcome { case found, denied, silence }

    private func follow(_ events: AsyncStream<RecordWatch.Event>) async -> Outcome {
        var outcome = Outcome.silence
        for await event in events {
            switch event {
            case .added(let record):
                printLine(Self.line("+", record, json))
                outcome = .found
                if first { return outcome }
            case .removed(let record): printLine(Self.line("-", record, json))
            case .denied:
                if outcome == .silence { return .denied }
            }
        }
        return outcome
    }

    private static func line(_ mark: PrintableText, _ record: RecordWatch.Record, _ isJSON: Bool) -> PrintableText {
        guard isJSON else {
            return
                "\(mark) \(record.name) \(record.timeToLive) \(record.type) \(record.content) [\(record.interface.name)]"
        }
        return PrintableText(
            json: Object(
                event: mark == "+" ? "added" : "removed", name: record.name, type: record.type,
                ttl: record.timeToLive, content: record.content, interface: record.interface.name))
    }

    private struct Object: Encodable {
        var event, name, type: String
        /// The time to live in seconds.
        var ttl: UInt32
        var content, interface: String
    }
}
