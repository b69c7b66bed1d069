internal import CausewayProtocols
package import CausewaySystem
package import CausewayTypes
internal import CausewayWire

/// A name lookup's complete result in plain values, for display and for programs that do not use connections.
package struct NameQuery: Sendable {
    /// One address in the result. The result lists the preferred address first.
    package struct Address: Sendable {
        package var address: SocketAddress
        package var text: String
        package var origin: String
        /// The time to live in seconds; `nil` if unknown.
        package var timeToLive: Int?
        /// The source address for packets to this address; `nil` if there is no route to it.
        package var source: String?
        /// The rule in RFC 6724 §6 that puts this address before the next address.
        package var rule: String?
    }

    package struct Record: Sendable {
        package var name: String
        package var type: String
        package var timeToLive: Int
        package var content: String
        /// The record data in the wire format, without name compression.
        package var data: [UInt8]

        package init(name: String, type: String, timeToLive: Int, content: String, data: [UInt8] = []) {
            self.name = name
            self.type = type
            self.timeToLive = timeToLive
            self.content = content
            self.data = data
        }
    }

    package struct Step: Sendable {
        package var name: String
        package var type: String
        package var outcome: String
        package var origin: String
        package var server: String?
        package var milliseconds: Double
    }

    package var addresses: [Address] = []
    package var records: [Record] = []
    package var steps: [Step] = []
    package var failure: Failure?
    /// The server that failed, and why; `nil` if this adds no information to ``failure``.
    package var detail: String?
    package var milliseconds = 0.0
    package var isAuthentic = false

    package init() {}

    /// Looks up a host as a connection would, and sorts its addresses.
    ///
    /// Cancellation: ends the lookup; the result contains the addresses found so far.
    ///
    /// - Parameter partition: The cache partition of the answers.
    package static func addresses(
        of host: String, family: SocketAddress.Family? = nil, partition: UInt64 = 0
    ) async -> NameQuery {
        if let literal = literal(host) {
            var inquiry = NameQuery()
            let translated = family == .ipv4 ? [] : await AddressTranslation.addresses(for: [literal.0])
            inquiry.order([(literal.0, literal.1)] + translated.map { ($0, nil) }, [])
            return inquiry
        }
        var families: Set<NameLookup.Family> = [.ipv4, .ipv6]
        if let family { families = family == .ipv6 ? [.ipv6] : [.ipv4] }
        let started = System.now
        let request = NameRequest(host, families: families, partition: partition)
        let (events, feed) = AsyncStream<NameEvent>.makeStream()
        let resolution = ResolverEngine.shared.resolve(request) { event in
            feed.yield(event)
            if case .ended = event { feed.finish() }
        }
        feed.onTermination = { reason in if case .cancelled = reason { resolution.cancel() } }
        var inquiry = NameQuery()
        var found: [(SocketAddress, AddressOrigin?)] = []
        var answers: [DNSAnswer] = []
        for await event in events {
            switch event {
            case .found(let addresses, _, let origin): found += addresses.map { ($0, origin) }
            case .settled: break
            case .answered(let type, let answer, let origin):
                answers.append(answer)
                inquiry.note(type, answer, origin, System.now - started)
            case .ended(let problem): inquiry.failure = problem?.failure
            }
        }
        inquiry.noteLink(host, families, found, System.now - started)
        if family != .ipv4 {
            found += await AddressTranslation.addresses(for: found.map(\.0)).map { ($0, nil) }
        }
        inquiry.order(found, answers)
        inquiry.milliseconds = (System.now - started) / .milliseconds(1)
        return inquiry
    }

    /// Adds the NAT64 addresses that represent an IPv4 address. Adds none if the network supports IPv4.
    package mutating func addTranslation(of text: String) async {
        guard let literal = Self.literal(text) else { return }
        order(await AddressTranslation.addresses(for: [literal.0]).map { ($0, nil) }, [])
    }

    private static func literal(_ host: String) -> (SocketAddress, AddressOrigin)? {
        switch NWEndpoint.Host(host) {
        case .ipv4(let address): (SocketAddress(address, port: 0), .host)
        case .ipv6(let address): (SocketAddress(address, port: 0), .host)
        case .name: nil
        }
    }

    /// Sorts the addresses in the order of preference, and describes them.
    ///
    /// - Parameters:
    ///   - found: The addresses, each with its origin. The origin is `nil` for a NAT64 address.
    ///   - answers: The DNS answers that contain the addresses. They supply each address's time to live.
    private mutating func order(_ found: [(SocketAddress, AddressOrigin?)], _ answers: [DNSAnswer]) {
        let sources = SourceAddress.toward(found.map(\.0))
        let known = zip(found, sources).compactMap { item, source -> (Destination, SocketAddress, AddressOrigin?)? in
            guard let address = item.0.internetAddress else { return nil }
            let facts = source.map {
                Destination.Source($0.address, prefixLength: $0.prefixLength, isDeprecated: $0.isDeprecated)
            }
            return (Destination(address, source: facts), item.0, item.1)
        }
        let order = AddressOrder.sorted(known.map(\.0))
        for (place, index) in order.enumerated() {
            let (destination, address, origin) = known[index]
            let answer = answers.last { $0.records.contains { InternetAddress($0.data) == destination.address } }
            let next = order.dropFirst(place + 1).first.map { known[$0].0 }
            let isLast = destination.source == nil && next == nil
            let rule = next.map { Self.text(AddressOrder.decide(destination, $0).rule) }
            addresses.append(
                Address(
                    address: address, text: destination.address.description,
                    origin: origin.map(Self.text) ?? "translated",
                    timeToLive: answer.map { Int($0.timeToLive.components.seconds) },
                    source: destination.source?.address.description, rule: isLast ? nil : rule))
        }
    }

    // MARK: Records

    /// Queries records of one type.
    ///
    /// Cancellation: cancels the query; the call throws `CancellationError`. A cancelled multicast DNS query does not
    /// throw, but returns the records found so far.
    ///
    /// - Parameters:
    ///   - name: The domain name. Link-local names are queried with multicast DNS, unless `server` is set.
    ///   - type: The record type's name, or `TYPE` with a number.
    ///   - server: The server's address, with an optional port; `nil` for this host's servers.
    /// - Throws: A ``NameProblem`` if the name, the type or the server is invalid.
    package static func records(of name: String, type: String, server: String? = nil) async throws -> NameQuery {
        guard let type = DNSRecordType(type) else { throw NameProblem.invalidName }
        // Queries for link-local names must not be sent to DNS servers (RFC 6762 §3, §4).
        if server == nil, let name = DNSName(name), name.isOfLink { return await linkRecords(of: name, type) }
        guard let name = Self.question(name) else { throw NameProblem.invalidName }
        var servers: [DNSServer]?
        if let server {
            guard let parsed = Self.server(server) else { throw NameProblem.invalidName }
            servers = [parsed]
        }
        guard let (answer, origin) = await ResolverEngine.shared.answer(name, type, servers: servers) else {
            throw CancellationError()
        }
        var inquiry = NameQuery()
        inquiry.note(type, answer, origin, answer.duration)
        inquiry.milliseconds = answer.duration / .milliseconds(1)
        inquiry.isAuthentic = answer.isAuthentic
        inquiry.records = (answer.aliases + answer.records).map { record in
            Record(
                name: record.name.description, type: record.type.description, timeToLive: Int(record.timeToLive),
                content: record.data.description, data: record.data.canonical)
        }
        switch answer.finding {
        case .records: break
        case .noSuchName, .noSuchRecord: inquiry.failure = NameProblem.notFound.failure
        case .failed(let failure):
            inquiry.failure = NameProblem(failure).failure
            if let server = answer.server { inquiry.detail = "\(server): \(Self.text(answer.finding))" }
        }
        return inquiry
    }

    /// How long to wait for answers on the link. A host that has the records answers within a second.
    private static let linkPatience: Duration = .seconds(3)
    /// After the first answer, how long to wait for further answers.
    private static let linkGathering: Duration = .milliseconds(200)

    private static func linkRecords(of name: DNSName, _ type: DNSRecordType) async -> NameQuery {
        let started = System.now
        var inquiry = NameQuery()
        for await event in RecordWatch(name, type).events(for: linkPatience, after: linkGathering) {
            guard case .added(let record) = event else { continue }
            inquiry.records.append(
                Record(
                    name: record.name, type: record.type, timeToLive: Int(record.timeToLive), content: record.content,
                    data: record.record.data.canonical))
        }
        inquiry.milliseconds = (System.now - started) / .milliseconds(1)
        if inquiry.records.isEmpty { inquiry.failure = NameProblem.notFound.failure }
        inquiry.noteLink(name, type, answerCount: inquiry.records.count, System.now - started)
        return inquiry
    }

    /// Returns whether the text is a server address, with an optional port.
    package static func isServer(_ text: String) -> Bool { server(text) != nil }

    /// Returns an address's reverse name; `nil` if the text is not an address.
    package static func reverseName(of text: String) -> String? {
        literal(text)?.0.internetAddress.map { DNSName.reverse($0).description }
    }

    /// Returns the name that the hosts file contains for an address; `nil` if there is none. May read the file, so do
    /// not call this method on an event loop.
    package static func knownName(of text: String) -> String? {
        guard let address = literal(text)?.0.internetAddress else { return nil }
        return ResolverEngine.shared.settings.readNow().context.hosts.name(of: address)?.description
    }

    private static func question(_ text: String) -> DNSName? {
        text == "." ? .root : text.utf8.allSatisfy { $0 < 0x80 } ? DNSName(text) : DNSName.host(text)?.name
    }

    /// Parses a server address with an optional port: `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1`, `[2001:db8::1]:5353`.
    private static func server(_ text: String) -> DNSServer? {
        if let address = literal(text)?.0.internetAddress { return DNSServer(address) }
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
            let port = UInt16(digits: text.utf8[colon...].dropFirst())
        else { return nil }
        let host = text[..<colon].filter { $0 != "[" && $0 != "]" }
        return literal(host)?.0.internetAddress.map { DNSServer($0, port: port) }
    }

    // MARK: Steps

    private mutating func note(_ type: DNSRecordType, _ answer: DNSAnswer, _ origin: AddressOrigin, _ time: Duration) {
        steps.append(
            Step(
                name: (answer.aliases.first?.name ?? answer.canonicalName).description, type: type.description,
                outcome: Self.text(answer.finding), origin: Self.text(origin), server: answer.server?.description,
                milliseconds: time / .milliseconds(1)))
    }

    /// Appends the multicast DNS queries of a lookup to ``steps``, which lists all queries of the result.
    private mutating func noteLink(
        _ host: String, _ families: Set<NameLookup.Family>, _ found: [(SocketAddress, AddressOrigin?)], _ time: Duration
    ) {
        guard let (name, _) = DNSName.host(host), name.isOfLink, !found.contains(where: { $0.1 == .host }) else {
            return
        }
        for (family, type) in [(NameLookup.Family.ipv6, DNSRecordType.aaaa), (.ipv4, .a)]
        where families.contains(family) {
            let count = found.count { $0.0.internetAddress?.lookupFamily == family }
            noteLink(name, type, answerCount: count, time)
        }
    }

    private mutating func noteLink(_ name: DNSName, _ type: DNSRecordType, answerCount: Int, _ time: Duration) {
        let outcome = answerCount == 0 ? "no answer" : answerCount == 1 ? "1 record" : "\(answerCount) records"
        steps.append(
            Step(
                name: name.description, type: type.description, outcome: outcome, origin: Self.text(.link),
                server: nil, milliseconds: time / .milliseconds(1)))
    }
}
