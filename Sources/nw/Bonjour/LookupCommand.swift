import ArgumentParser
import Causeway
import CausewayRuntime
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// `nw lookup`: resolves a service to its host, port and addresses.
struct LookupCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "lookup",
        abstract: "Resolve a service: show its host, port, addresses and TXT record.",
        usage: "nw lookup [<options>] <name> [<type>]",
        discussion: """
            No connection is made, unless --connect is given.

            Examples:
              nw lookup "My page" _http._tcp
              nw lookup "My page._http._tcp.local"
              nw lookup Printer _ipp._tcp -w 3 --json
              nw lookup Page _http._tcp --domain example.com    by unicast DNS
              nw lookup Printer _ipp._tcp --connect    print the connected address
            """)

    @Option(
        name: [.customShort("w", allowingJoined: true)],
        help: ArgumentHelp("Give up after SECONDS.", valueName: "seconds"))
    var timeout = 10.0

    @Flag(help: "Connect to the service, and print the remote address.")
    var connect = false

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @Option(name: .shortAndLong, help: "Query on this interface only.", completion: .interfaces)
    var interface: String?

    @Option(help: ArgumentHelp("Domain of the service. (default: local)", valueName: "domain"))
    var domain: String?

    @Argument(help: "Name of the service, or its full name with type and domain.")
    var name: String

    @Argument(help: "Service type, such as _http._tcp.")
    var type: String?

    /// Time to wait for more addresses after the first address.
    private static let gathering: Duration = .milliseconds(200)
    /// Time to wait for a TXT record after the first address.
    private static let textPatience: Duration = .seconds(1)

    func validate() throws {
        guard timeout > 0, timeout <= 1_000_000 else {
            throw ValidationError("-w must be more than 0 and at most 1000000 seconds.")
        }
        _ = try instance()
    }

    func run() async throws {
        try await reporting("lookup") {
            let instance = try instance()
            var service = FoundService(instance)
            let limit = Duration.seconds(timeout)
            if connect { return try await reach(service, within: limit) }
            let link = try interface.map { try namedInterface($0) }
            guard let place = try await find(instance, on: link, within: limit) else {
                throw CommandFailure("no service '\(service.name)' of type \(service.type) answered in time")
            }
            service.place = place
            service.text = place.text.map { NWTXTRecord(Data($0)) }
            printLine(json ? PrintableText(json: service.object(event: nil)) : text(service))
        }
    }

    private func instance() throws -> DNSServiceInstance {
        guard let type else {
            guard let instance = DNSServiceInstance(text: name) else {
                throw ValidationError(
                    "Specify a service type, such as _http._tcp, or a full name, such as NAME._http._tcp.local.")
            }
            return instance
        }
        let parsed: DNSServiceType
        do {
            parsed = try DNSServiceType(browsing: type)
        } catch {
            throw ValidationError(error.sentence(name: name, type: type))
        }
        guard let place = DNSName(domain ?? "local"), !place.isRoot,
            let full = parsed.name.appending(place).flatMap({ DNSName(name, in: $0) }),
            let instance = DNSServiceInstance(full, of: parsed.name)
        else { throw ValidationError("Invalid service name or domain: a name has 1 to 63 bytes.") }
        return instance
    }

    /// Resolves the service to its host, port and addresses. Returns `nil` if the service does not answer in time.
    private func find(
        _ instance: DNSServiceInstance, on interface: NWInterface?, within limit: Duration
    ) async throws -> ServiceLookup.Place? {
        guard let name = instance.name else { return nil }
        let (places, feed) = AsyncThrowingStream<ServiceLookup.Place, any Error>.makeStream()
        let lookup = ServiceLookup(
            name, wants: .place, on: interface,
            failed: { problem in if let problem { feed.finish(throwing: problem.failure.networkError) } },
            { feed.yield($0) })
        lookup.begin()
        defer { lookup.end() }
        lookup.end(after: limit) { feed.finish() }
        var (latest, hasText, isPlaced): (ServiceLookup.Place?, Bool, Bool) = (nil, false, false)
        for try await place in places where place.host != nil && !place.addresses.isEmpty {
            latest = place
            let isComplete = place.text != nil && !hasText
            if !isPlaced || isComplete {
                let pause = place.text != nil ? Self.gathering : Self.textPatience
                Task {
                    try? await Task.sleep(for: pause)
                    feed.finish()
                }
            }
            (hasText, isPlaced) = (place.text != nil, true)
        }
        return latest
    }

    private func text(_ service: FoundService) -> PrintableText {
        var lines: [PrintableText] = ["\(service.instance?.description ?? service.name)"]
        lines.append("  host     \(service.host ?? "?")")
        lines.append("  port     \(service.place?.port ?? 0)")
        lines += service.addresses.map { "  address  \($0)" }
        lines += service.entries.map { "  txt      \($0)" }
        return lines.joined(separator: "\n")
    }

    private func reach(_ service: FoundService, within limit: Duration) async throws {
        let isDatagram = service.type.lowercased().contains("._udp")
        let connection = NWConnection(to: service.endpoint, using: isDatagram ? .udp : makeTCPParameters())
        defer { connection.cancel() }
        try await connection.connect(within: limit)
        let label = connection.currentPath?.remoteEndpoint?.label ?? connection.endpoint.label
        printLine(json ? PrintableText(json: ["address": label]) : "\(label)")
    }
}
