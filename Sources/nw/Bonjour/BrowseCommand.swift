import ArgumentParser
import Causeway
import CausewaySystem
import CausewayTypes
import Dispatch

/// `nw browse`: which services are there, and what comes and goes.
struct BrowseCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "browse",
        abstract: "List the services of a type on the local network, and follow what comes and goes.",
        discussion: """
            Each line begins with + for a service that has appeared, - for one that has gone, ~ for one that has changed.

            Examples:
              nw browse _http._tcp
              nw browse _ipp._tcp -v            with what each service tells of itself
              nw browse _ssh._tcp -t 3 --json   three seconds, one JSON object a line
              nw browse _ipp._tcp --first       the first one found, for scripts
            """)

    @Flag(name: .shortAndLong, help: "Show the TXT record of each service.")
    var verbose = false

    @Flag(help: "One JSON object a line.")
    var json = false

    @Flag(help: "End with the first service found.")
    var first = false

    @Option(name: .shortAndLong, help: ArgumentHelp("End after this time.", valueName: "seconds"))
    var time: Double?

    @Option(name: .shortAndLong, help: "Look on this interface only.")
    var interface: String?

    @Argument(help: "A service type, such as _http._tcp; with a subtype, _ipp._tcp,_color.")
    var type: String

    func validate() throws {
        if let time, !(time > 0 && time <= 1_000_000) { throw ValidationError("--time needs a positive number.") }
    }

    func run() async throws {
        try await reporting("browse") {
            Machine.keepMemorySmall()
            StartMark.print()
            let parameters = NWParameters()
            if let interface {
                guard let found = NWInterface(name: interface) else { throw Failure("no interface \(interface)") }
                parameters.requiredInterface = found
            }
            if first { return try await showFirst(parameters) }
            let browser = NWBrowser(
                for: verbose || json
                    ? .bonjourWithTXTRecord(type: type, domain: nil) : .bonjour(type: type, domain: nil),
                using: parameters)
            let (changes, feed) = AsyncThrowingStream<Set<NWBrowser.Result.Change>, any Error>.makeStream()
            browser.stateUpdateHandler = { state in
                if case .failed(let error) = state { feed.finish(throwing: Failure("cannot browse \(type)", error)) }
            }
            browser.browseResultsChangedHandler = { _, changes in feed.yield(changes) }
            browser.start(queue: DispatchQueue(label: "nw-browse"))
            defer { browser.cancel() }
            Machine.releaseMemory()
            let printer = ServiceLine(isJSON: json)
            try await withDeadline(time.map { .seconds($0) }, onExpiry: { feed.finish() }) {
                try await untilInterrupted {
                    for try await batch in changes { printer.show(batch) }
                }
            }
        }
    }
}

extension BrowseCommand {
    private func showFirst(_ parameters: NWParameters) async throws {
        let browser = NetworkBrowser(for: .bonjour(type, includeTxtRecord: verbose || json), using: parameters)
        let search = Task {
            try await browser.run { found -> NetworkBrowser<Bonjour>.RunResult<Bonjour.Endpoint> in
                found.first.map { .finish($0) } ?? .continue
            }
        }
        let found: Bonjour.Endpoint
        do {
            found = try await withDeadline(time.map { .seconds($0) }, onExpiry: { search.cancel() }) {
                try await search.value
            }
        } catch is TimedOut {
            throw Failure("no service of type \(type) was found in time")
        } catch let error as NWError {
            throw Failure("cannot browse \(type)", error)
        }
        ServiceLine(isJSON: json).show([.added(found.result)])
    }
}

/// Writes what has changed, a line each.
private struct ServiceLine {
    var isJSON: Bool

    func show(_ changes: Set<NWBrowser.Result.Change>) {
        let lines = changes.compactMap { change -> PrintableText? in
            switch change {
            case .added(let result): line("+", "added", result)
            case .removed(let result): line("-", "removed", result)
            case .changed(_, let result, _): line("~", "changed", result)
            case .identical: nil
            }
        }
        for line in lines.sorted(by: { $0.text < $1.text }) { printLine(line) }
    }

    private func line(_ mark: String, _ event: String, _ result: NWBrowser.Result) -> PrintableText? {
        guard case .service(let name, let type, let domain, _) = result.endpoint else { return nil }
        let interfaces = result.interfaces.map(\.name)
        var text: [String: String] = [:]
        if case .bonjour(let record) = result.metadata { text = record.dictionary }
        guard isJSON else {
            let pairs = text.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
            return "\(mark) \(name)  \(type) \(domain) [\(interfaces.joined(separator: " "))]\(pairs)"
        }
        let object = Object(event: event, name: name, type: type, domain: domain, interfaces: interfaces, text: text)
        return PrintableText(json: object)
    }

    private struct Object: Encodable {
        var event, name, type, domain: String
        var interfaces: [String]
        var text: [String: String]
    }
}
