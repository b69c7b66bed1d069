import ArgumentParser
import Causeway
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import FoundationEssentials

/// `nw resolve`: what is known of a name, from where, and in which order its addresses would be tried.
struct ResolveCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "resolve",
        abstract: "Look up a name, an address, or any record.",
        discussion: """
            Without --type a name is looked up as a connection would: the hosts file, DNS, or the link for names in \
            .local, and the addresses come in the order of RFC 6724, each with the rule that puts it before the next.

            Examples:
              nw resolve example.com
              nw resolve example.com --trace --json
              nw resolve 192.0.2.1                        the name of an address
              nw resolve _https._tcp.example.com --type SRV
              nw resolve example.com --type HTTPS --server 192.0.2.53
            """)

    @Option(
        help: ArgumentHelp("Ask DNS for records of this type, such as A, MX, TXT, HTTPS or TYPE65.", valueName: "type"))
    var type: String?

    @Option(help: ArgumentHelp("Ask this DNS server; a port may follow behind a colon.", valueName: "address"))
    var server: String?

    @Flag(name: .customShort("4"), help: "IPv4 addresses only.")
    var v4Only = false

    @Flag(name: .customShort("6"), help: "IPv6 addresses only.")
    var v6Only = false

    @Flag(help: "Show every question with its answer.")
    var trace = false

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @Argument(help: "A name or an address.")
    var name: String

    func validate() throws {
        if v4Only, v6Only { throw ValidationError("-4 and -6 exclude each other.") }
    }

    func run() async throws {
        try await reporting("resolve") {
            let answer = ResolveAnswer(name: name, try await inquire())
            printLine(json ? answer.json() : answer.text(trace: trace))
            if let problem = answer.problem { throw Failure("\(name): \(problem)") }
        }
    }

    private func inquire() async throws -> NameInquiry {
        do {
            if let type { return try await NameInquiry.records(of: name, type: type, server: server) }
            if let reverse = NameInquiry.reverseName(of: name) {
                if server == nil, let known = NameInquiry.knownName(of: name) { return .known(known, for: reverse) }
                var inquiry = try await NameInquiry.records(of: reverse, type: "PTR", server: server)
                await inquiry.addTranslation(of: name)
                return inquiry
            }
            let family: SocketAddress.Family? = v4Only ? .ipv4 : v6Only ? .ipv6 : nil
            guard let server else { return await NameInquiry.addresses(of: name, family: family) }
            let (six, four) = (family != .ipv4, family != .ipv6)
            var inquiry = NameInquiry()
            if six { inquiry.add(try await .records(of: name, type: "AAAA", server: server)) }
            if four { inquiry.add(try await .records(of: name, type: "A", server: server)) }
            return inquiry
        } catch let error as Failure {
            throw error
        } catch {
            throw Failure("the name, the type or the server makes no sense")
        }
    }
}

extension NameInquiry {
    fileprivate static func known(_ name: String, for reverse: String) -> NameInquiry {
        var inquiry = NameInquiry()
        inquiry.records = [Record(name: reverse, type: "PTR", timeToLive: 0, content: name)]
        return inquiry
    }

    /// The records of both; a failure only if there are none at all.
    fileprivate mutating func add(_ other: NameInquiry) {
        records += other.records
        steps += other.steps
        milliseconds += other.milliseconds
        failure = records.isEmpty ? other.failure ?? failure : nil
    }
}

/// What `nw resolve` shows, in the shape of its JSON.
struct ResolveAnswer: Encodable {
    struct Address: Encodable {
        var address: String
        var origin: String
        var timeToLive: Int?
        /// The local address of packets to it; `nil` without a route.
        var source: String?
        var rule: String?
    }

    struct Record: Encodable {
        var name: String
        var type: String
        var timeToLive: Int
        var content: String
    }

    struct Step: Encodable {
        var type: String
        var name: String
        var outcome: String
        var origin: String
        var server: String?
        var milliseconds: Double
    }

    var name: String
    var milliseconds: Double
    var isAuthentic: Bool
    var addresses: [Address]
    var records: [Record]
    var queries: [Step]
    var problem: String?

    init(name: String, _ inquiry: NameInquiry) {
        self.name = name
        milliseconds = inquiry.milliseconds
        isAuthentic = inquiry.isAuthentic
        addresses = inquiry.addresses.map {
            Address(address: $0.text, origin: $0.origin, timeToLive: $0.timeToLive, source: $0.source, rule: $0.rule)
        }
        records = inquiry.records.map {
            Record(name: $0.name, type: $0.type, timeToLive: $0.timeToLive, content: $0.content)
        }
        queries = inquiry.steps.map {
            Step(
                type: $0.type, name: $0.name, outcome: $0.outcome, origin: $0.origin, server: $0.server,
                milliseconds: $0.milliseconds)
        }
        if addresses.isEmpty, records.isEmpty {
            problem = inquiry.failure.map { describe($0.networkError).text } ?? "nothing found"
        }
    }

    func json() -> PrintableText {
        PrintableText(json: self, isIndented: true)
    }

    func text(trace: Bool) -> PrintableText {
        var lines: [String] = []
        if trace {
            for step in queries {
                let place = step.server.map { "\(step.origin) \($0)" } ?? step.origin
                lines.append(
                    "; \(step.name) \(step.type): \(step.outcome), \(place), "
                        + "\(Amounts.decimal(step.milliseconds, places: 1)) ms")
            }
        }
        for record in records {
            lines.append(
                "\(record.name)\t\(record.timeToLive)\tIN\t\(record.type)\t\(record.content)")
        }
        for address in addresses {
            let facts: [String?] = [
                address.origin, address.timeToLive.map { "ttl \($0)" },
                address.source.map { "from \($0)" } ?? "no route", address.rule,
            ]
            lines.append(address.address.padded(to: 39) + "  " + facts.compactMap(\.self).joined(separator: ", "))
        }
        if trace { lines.append("; \(Amounts.decimal(milliseconds, places: 1)) ms in all") }
        return PrintableText(lines: lines)
    }
}
