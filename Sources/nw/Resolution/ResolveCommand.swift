import ArgumentParser
import Causeway
import CausewayRuntime
import CausewaySystem
import CausewayTypes

/// `nw resolve`: resolves a name, and shows each address's origin and the order in which a connection tries them.
struct ResolveCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "resolve",
        abstract: "Resolve a name or address, or query any DNS record.",
        usage: "nw resolve [<options>] [@SERVER] NAME [TYPE]",
        discussion: """
            Without --type, a name is resolved as a connection does it: from the hosts file, by DNS, or by multicast \
            DNS for names in .local. The addresses are printed in the order in which they are tried (RFC 6724), each \
            with the rule that places it before the next.

            Examples:
              nw resolve example.com
              nw resolve example.com --trace --json
              nw resolve 192.0.2.1                       the name of an address
              nw resolve _https._tcp.example.com --type SRV
              nw resolve @192.0.2.53 example.com HTTPS   the syntax of dig
              nw resolve -x 192.0.2.1
              nw resolve printer.local --trace           by multicast DNS
              nw resolve -w 0.5 example.com              at most half a second
            """)

    @Option(
        help: ArgumentHelp("Query records of this type, such as A, MX, TXT, HTTPS or TYPE65.", valueName: "type"))
    var type: String?

    @Option(help: ArgumentHelp("Query this DNS server: ADDRESS or ADDRESS:PORT.", valueName: "address"))
    var server: String?

    @Option(
        name: .customShort("x"), help: ArgumentHelp("Look up the name of this address (PTR).", valueName: "address"))
    var reverse: String?

    @Option(
        name: [.customShort("w", allowingJoined: true)],
        help: ArgumentHelp("Give up after SECONDS. (default: the limits of the resolver)", valueName: "seconds"))
    var timeout: Double?

    @Flag(name: .customShort("4"), help: "Query IPv4 addresses only.")
    var v4Only = false

    @Flag(name: .customShort("6"), help: "Query IPv6 addresses only.")
    var v6Only = false

    @Flag(help: "Show each query with its result.")
    var trace = false

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @Argument(help: "A name or an address, a record type, and @ with a server.")
    var words: [String] = []

    func validate() throws {
        if v4Only, v6Only { throw ValidationError("-4 and -6 cannot be combined.") }
        if let timeout, !(timeout > 0 && timeout <= 1_000_000) {
            throw ValidationError("-w must be more than 0 and at most 1000000 seconds.")
        }
        _ = try ResolveRequest(words, reverse: reverse, type: type, server: server)
    }

    func run() async throws {
        try await reporting("resolve") {
            let request = try ResolveRequest(words, reverse: reverse, type: type, server: server)
            let answer = ResolveAnswer(name: request.name, try await inquireInTime(request))
            let text = json ? answer.json() : answer.text(trace: trace)
            if !text.isEmpty { printLine(text) }
            if let problem = answer.problem { throw CommandFailure("\(request.name): \(problem)") }
        }
    }

    private func inquireInTime(_ request: ResolveRequest) async throws -> NameQuery {
        let command = self
        let limit = timeout.map { Duration.seconds($0) }
        do {
            return try await withCancellingDeadline(limit) { try await command.inquire(request) }
        } catch is TimedOut {
            let seconds = Amounts.decimal(timeout ?? 0, places: 3)
            throw CommandFailure("\(request.name): no answer within \(seconds) s")
        }
    }

    private func inquire(_ request: ResolveRequest) async throws -> NameQuery {
        let (name, type, server) = (request.name, request.type, request.server)
        do {
            if let type { return try await NameQuery.records(of: name, type: type, server: server) }
            if let reverse = NameQuery.reverseName(of: name) {
                if server == nil, let known = NameQuery.knownName(of: name) { return .known(known, for: reverse) }
                var inquiry = try await NameQuery.records(of: reverse, type: "PTR", server: server)
                await inquiry.addTranslation(of: name)
                return inquiry
            }
            let family: SocketAddress.Family? = v4Only ? .ipv4 : v6Only ? .ipv6 : nil
            guard let server else { return await NameQuery.addresses(of: name, family: family) }
            let (six, four) = (family != .ipv4, family != .ipv6)
            var inquiry = NameQuery()
            if six { inquiry.add(try await .records(of: name, type: "AAAA", server: server)) }
            if four { inquiry.add(try await .records(of: name, type: "A", server: server)) }
            return inquiry
        } catch let error as CommandFailure {
            throw error
        } catch let error as CancellationError {
            throw error
        } catch {
            throw CommandFailure("'\(name)' is not a domain name, or the server is not an address")
        }
    }
}

extension NameQuery {
    fileprivate static func known(_ name: String, for reverse: String) -> NameQuery {
        var inquiry = NameQuery()
        inquiry.records = [Record(name: reverse, type: "PTR", timeToLive: 0, content: name)]
        return inquiry
    }

    /// Adds the records of another query to this query. A failure remains only if neither query has found records.
    fileprivate mutating func add(_ other: NameQuery) {
        records += other.records
        steps += other.steps
        milliseconds += other.milliseconds
        failure = records.isEmpty ? other.failure ?? failure : nil
        detail = records.isEmpty ? other.detail ?? detail : nil
    }
}
