import ArgumentParser
import Causeway
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import CausewayWire

/// `nw register`: registers a service on the local network.
struct RegisterCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "register",
        abstract: "Advertise a service on the local network until interrupted.",
        usage: "nw register [<options>] <name> <type> <port> [<key=value>...]",
        discussion: """
            Registers only the name of the service; the program that listens on the port is not affected. If the \
            name is already taken, a number is appended, unless --no-rename is given. The service is withdrawn when \
            the command ends.

            With --sleep-proxy, a sleep proxy on the link answers for this host while it sleeps, and wakes it when a \
            client needs the service. The hardware must be configured for Wake-on-LAN: ethtool -s eth0 wol g.

            Examples:
              nw register "My page" _http._tcp 8080 path=/index.html
              nw register Printer _ipp._tcp,_color 631
              nw register Load _test._tcp 9 --count 1000
            """)

    @Option(help: ArgumentHelp("Register in this domain; only local is supported.", valueName: "domain"))
    var domain = "local"

    @Flag(help: "Fail if the name is already taken.")
    var noRename = false

    @Flag(help: "Let a sleep proxy answer while this host sleeps.")
    var sleepProxy = false

    @Flag(help: "Print one JSON object per event.")
    var json = false

    @Option(help: ArgumentHelp("Register this many services, with numbers appended to the name.", valueName: "number"))
    var count = 1

    @Argument(help: "Name of the service: text of 1 to 63 bytes.")
    var name: String

    @Argument(help: "Service type, such as _http._tcp.")
    var type: String

    @Argument(help: "Port number or service name.")
    var port: String

    @Argument(help: "Entries of the TXT record, as KEY=VALUE.")
    var entries: [String] = []

    func validate() throws {
        guard (1...100_000).contains(count) else { throw ValidationError("--count must be 1 to 100000.") }
        guard let place = DNSName(domain), !place.isRoot else {
            throw ValidationError("'\(domain)' is not a domain name.")
        }
        guard place == .local else {
            throw ValidationError(
                "Cannot register in \(domain): only local is supported. A name server must publish services of other "
                    + "domains; add the records there, for example with nsupdate (RFC 2136).")
        }
    }

    func run() async throws {
        try await reporting("register") {
            let port = try parsePort(port).rawValue
            System.keepMemorySmall()
            let service = try ServiceDescription(
                name: name, type: type, port: port, entries: entries, mayRename: !noRename)
            // Check all names before the first registration. With --count, a number is appended to each name, which may
            // then be too long.
            let services = try (1...count).map { number in
                count == 1 ? service : try service.named("\(name) \(number)", type: type)
            }
            let (events, feed) = AsyncStream<ServiceEvent>.makeStream()
            let engine = BonjourEngine.shared
            if sleepProxy { engine.useSleepProxies() }
            StartMark.print()
            if (try? DNSServiceType(type))?.exceedsLimit == true {
                printError(
                    "nw: register: the service name in \(type) has more than 15 characters (RFC 6335): some programs reject it"
                )
            }
            let note: @Sendable (ServiceEvent) -> Void = { feed.yield($0) }
            let all = services.map { engine.advertise($0, note) }
            // Return free memory to the system, and drop the code pages that only startup needed.
            System.releaseMemory()
            try await untilInterrupted {
                var isFirst = true
                for await event in events {
                    try show(event)
                    if isFirst { System.releaseMemory() }
                    isFirst = false
                }
            } goodbye: { done in
                for id in all.dropLast() { engine.withdraw(id) }
                if let last = all.last { engine.withdraw(last, done) } else { done() }
            }
        }
    }

    private struct Report: Encodable {
        /// The event kind: `registered` or `lost`.
        var event: String
        var name: String
    }

    private func report(_ event: String, _ name: some CustomStringConvertible, _ line: PrintableText) {
        printLine(json ? PrintableText(json: Report(event: event, name: "\(name)")) : line)
    }

    private func show(_ event: ServiceEvent) throws {
        switch event {
        case .registered(let name): report("registered", name, "registered as \(name)")
        case .removed(let name): report("lost", name, "lost \(name)")
        case .portTaken:
            throw CommandFailure("another program uses UDP port 5353 exclusively: nw doctor shows which one")
        case .failed: throw CommandFailure("the name \(name) is already taken")
        }
    }
}

extension DNSServiceType.Mistake {
    func sentence(name: String, type: String) -> String {
        switch self {
        case .form: "'\(type)' is not a service type: expected a form such as _http._tcp or _game._udp."
        case .length: "The service name in '\(type)' must have 1 to 62 characters."
        case .character:
            "The service name in '\(type)' must have only letters, digits and single hyphens, and at least one letter (RFC 6335)."
        case .name: "'\(name)' is not a service name: a name has 1 to 63 bytes without control characters."
        }
    }
}

extension ServiceDescription {
    fileprivate init(name: String, type: String, port: UInt16, entries: [String], mayRename: Bool) throws {
        var text: [UInt8] = []
        for entry in entries {
            guard let length = UInt8(exactly: entry.utf8.count), entry.first != "=" else {
                throw ValidationError(
                    "Invalid TXT entry '\(entry)': an entry starts with its key and has at most 255 bytes.")
            }
            text += [length] + Array(entry.utf8)
        }
        do {
            try self.init(name: name, typeText: type, port: port, text: text, mayRename: mayRename)
        } catch {
            throw ValidationError(error.sentence(name: name, type: type))
        }
    }

    fileprivate func named(_ name: String, type: String) throws -> ServiceDescription {
        var other = self
        do {
            try other.rename(to: name)
        } catch {
            throw ValidationError(error.sentence(name: name, type: type))
        }
        return other
    }
}
