import ArgumentParser
import Causeway
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import CausewayWire

/// `nw browse`: lists services on the local network and reports changes.
struct BrowseCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "browse",
        abstract: "List services on the local network and report changes.",
        usage: "nw browse [<options>] [<type>]",
        discussion: """
            Without a type, services of all types are listed. On a terminal the output is a table that is updated in \
            place. Otherwise each line begins with + (service added), - (removed), ~ (changed) or, with -v, = (host, \
            port and addresses).

            Examples:
              nw browse                         services of all types
              nw browse _http._tcp
              nw browse _ipp._tcp -v            with TXT record, host and addresses
              nw browse _ssh._tcp -t 3 --json   3 seconds, one JSON object per line
              nw browse _ipp._tcp --first       only the first service, for scripts
              nw browse _http._tcp --domain example.com    by unicast DNS
            """)

    @Flag(name: .shortAndLong, help: "Show the TXT record, host, port and addresses of each service.")
    var verbose = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Flag(help: "Exit after the first service found.")
    var first = false

    @Option(name: .shortAndLong, help: ArgumentHelp("Exit after SECONDS.", valueName: "seconds"))
    var time: Double?

    @Option(name: .shortAndLong, help: "Browse on this interface only.", completion: .interfaces)
    var interface: String?

    @Option(help: ArgumentHelp("Browse in this domain.", valueName: "domain"))
    var domain = "local"

    @Argument(help: "Service type, such as _http._tcp or, with a subtype, _ipp._tcp,_color. (default: all types)")
    var type: String?

    /// Time to wait for the first result before a hint is printed.
    private static let patience: Duration = .seconds(3)

    func validate() throws {
        if let time, !(time > 0 && time <= 1_000_000) {
            throw ValidationError("--time must be more than 0 and at most 1000000 seconds.")
        }
        _ = try parsedDomain()
    }

    func run() async throws {
        try await reporting("browse") {
            System.keepMemorySmall()
            StartMark.print()
            let parameters = NWParameters()
            if let interface { parameters.requiredInterface = try namedInterface(interface) }
            let session = BrowseSession(
                parameters, domain: try parsedDomain(), wantsText: verbose || json, wantsPlaces: verbose)
            if let type { session.search(type) } else { session.searchAllTypes() }
            defer { session.stop() }
            System.releaseMemory()
            let isLive = TerminalScreen.isInteractive && !json && !first
            let display = BrowseDisplay(isJSON: json, isLive: isLive, title: title, showsPlaces: verbose)
            try await follow(session, display, isLive: isLive)
        }
    }

    private func follow(_ session: BrowseSession, _ display: BrowseDisplay, isLive: Bool) async throws {
        let hint = self.hint
        let reminder = Task {
            guard isLive, (try? await Task.sleep(for: Self.patience)) != nil, !display.hasFound else { return }
            printError(hint)
        }
        defer { reminder.cancel() }
        do {
            try await withDeadline(time.map { .seconds($0) }, onExpiry: { session.finish() }) {
                try await untilInterrupted {
                    for try await update in session.updates {
                        display.show(update)
                        if first, isEnough(update) { return }
                    }
                    if first { throw TimedOut() }
                }
            }
        } catch is TimedOut where first {
            throw CommandFailure(
                type.map { "no service of type \($0) was found in time" } ?? "no service was found in time")
        }
        if !display.hasFound { printError(hint) }
    }

    /// Returns whether this update ends a browse command with `--first`. Without `-v`, any found service ends the
    /// command. With `-v`, only a resolved service ends it.
    private func isEnough(_ update: BrowseSession.Update) -> Bool {
        switch update {
        case .placed: true
        case .changes(let changes): !verbose && !changes.isEmpty
        }
    }

    private func parsedDomain() throws -> DNSName {
        guard let name = DNSName(domain), !name.isRoot else {
            throw ValidationError("'\(domain)' is not a domain name.")
        }
        return name
    }

    private var title: PrintableText {
        type.map { "\($0) in \(domain)" } ?? "services of all types in \(domain)"
    }

    private var hint: PrintableText {
        let what: PrintableText = type.map { "service of type \($0)" } ?? "service"
        let other: PrintableText = type == nil ? "" : "nw browse lists all types; "
        return "nw: browse: no \(what) found; \(other)nw doctor checks whether Bonjour works on this host"
    }
}
