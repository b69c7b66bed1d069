internal import Causeway
internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import Foundation

extension ServiceDiscovery {
    static let badParameter = NWError.dns(-65_540)

    static func services(
        _ type: String, _ domain: String, _ interface: NWInterface?
    ) throws -> DiscoverySource<Change<Identity>> {
        guard let parsed = try? DNSServiceType(browsing: type),
            let parent = DNSName(domain.isEmpty ? "local" : domain), let base = parsed.name.appending(parent)
        else { throw badParameter }
        let meaning: @Sendable (Record) -> Identity? = { Identity(of: $0, type: parsed.name) }
        guard let subtype = parsed.subtypes.first else { return follow(base, .ptr, interface, meaning) }
        guard let name = DNSName("_sub", in: base).flatMap({ DNSName(subtype, in: $0) }) else { throw badParameter }
        return follow(name, .ptr, interface, meaning)
    }

    static func found(
        _ name: String, _ type: String, _ interface: NWInterface?
    ) throws -> DiscoverySource<Change<Record>> {
        guard let name = DNSName(name), let type = DNSRecordType(type) else { throw badParameter }
        return follow(name, type, interface) { $0 }
    }

    static func places(_ identity: Identity) throws -> DiscoverySource<Place> {
        let instance = try identity.instance()
        return DiscoverySource { report in
            let failed: @Sendable (NameProblem?) -> Void = { problem in
                if let problem { report(.failure(problem.failure.networkError)) }
            }
            let lookup = ServiceLookup(instance, wants: .place, failed: failed) { place in
                guard let host = place.host, let text = place.text else { return }
                let place = Place(
                    host: host.description, port: NWEndpoint.Port(rawValue: place.port) ?? 0,
                    text: NWTXTRecord(Data(text)), addresses: place.addresses.compactMap(\.endpointHost))
                report(.success([place]))
            }
            lookup.begin()
            return { lookup.end() }
        }
    }

    static func hosts(
        _ host: String, _ interface: NWInterface?
    ) throws -> DiscoverySource<Change<NWEndpoint.Host>> {
        guard let name = DNSName(host), name.firstLabel != nil else { throw badParameter }
        let families = [DNSRecordType.a, .aaaa].map { type in
            follow(name, type, interface) { record -> NWEndpoint.Host? in
                // Ignore CNAME records in the answer: they contain no address.
                guard record.type == type.description else { return nil }
                if let address = IPv4Address(record.content) { return .ipv4(address) }
                guard let address = IPv6Address(record.content) else { return nil }
                let scope = address.isLinkLocal ? record.interface : nil
                return .ipv6(IPv6Address(high: address.high, low: address.low, interface: scope))
            }
        }
        return DiscoverySource { report in
            let stops = families.map { $0.begin(report) }
            return { for stop in stops { stop() } }
        }
    }

    static func recommended(_ kind: DomainKind, _ domain: String) throws -> DiscoverySource<Change<String>> {
        guard let parent = DNSName(domain), let name = DNSName("\(kind.rawValue)._dns-sd._udp")?.appending(parent)
        else { throw badParameter }
        let hasLocal = kind == .browsing || kind == .registration
        let asked: DiscoverySource<Change<String>>? =
            parent.isOfLink ? nil : follow(name, .ptr, nil) { record in record.type == "PTR" ? record.content : nil }
        return DiscoverySource<Change<String>> { report in
            if hasLocal { report(.success([Change<String>.added("local.")])) }
            guard let asked else { return {} }
            return asked.begin(report)
        }
    }

    /// Follows the records of a name and converts each to an element.
    ///
    /// - Parameter meaning: Converts a record. Returns `nil` for a record to ignore.
    private static func follow<Element>(
        _ name: DNSName, _ type: DNSRecordType, _ interface: NWInterface?,
        _ meaning: @escaping @Sendable (Record) -> Element?
    ) -> DiscoverySource<Change<Element>> {
        DiscoverySource { report in
            guard name.isOfLink else {
                let question = RecordQuestion(name, type, on: interface) { problem in
                    if let problem { report(.failure(problem.failure.networkError)) }
                } _: { changes in
                    let gone = changes.removed.map { Change<Record>.removed(Record(answered: $0)) }
                    let come = changes.added.map { Change<Record>.added(Record(answered: $0)) }
                    report(.success((gone + come).compactMap { $0.map(meaning) }))
                }
                return { question.stop() }
            }
            let found = LockedValue(FoundElements<Element>())
            let watching = RecordWatch(name, type, interfaceIndex: interface?.index).follow { events in
                let changes = events.compactMap { event -> Change<Element>? in
                    switch event {
                    case .added(let record):
                        meaning(Record(record)).flatMap { element in
                            found.withLock { $0.changed(.added(element), on: record.interface.index) }
                        }
                    case .removed(let record):
                        meaning(Record(record)).flatMap { element in
                            found.withLock { $0.changed(.removed(element), on: record.interface.index) }
                        }
                    case .denied: nil
                    }
                }
                if !changes.isEmpty { report(.success(changes)) }
            }
            return { watching.stop() }
        }
    }
}

extension ServiceDiscovery.Change {
    fileprivate func map<Other>(_ meaning: (Element) -> Other?) -> ServiceDiscovery.Change<Other>? {
        switch self {
        case .added(let element): meaning(element).map { .added($0) }
        case .removed(let element): meaning(element).map { .removed($0) }
        }
    }
}

extension ServiceDiscovery.Identity {
    /// Splits an instance name into its label, the two labels of the type, and the domain. Returns `nil` for names of another form.
    init?(of record: ServiceDiscovery.Record, type: DNSName) {
        guard record.type == "PTR", let name = DNSName(record.content),
            let instance = DNSServiceInstance(name, of: type)
        else { return nil }
        self.init(
            name: instance.label, type: String(instance.type.description.dropLast()),
            domain: instance.domain.description)
    }

    /// Returns the full domain name of the instance.
    ///
    /// - Throws: `.dns(kDNSServiceErr_BadParam)` if a part is invalid.
    func instance() throws -> DNSName {
        guard let parsed = try? DNSServiceType(browsing: type), let parent = DNSName(domain.isEmpty ? "local" : domain),
            let base = parsed.name.appending(parent), let instance = DNSName(name, in: base)
        else { throw ServiceDiscovery.badParameter }
        return instance
    }
}

extension ServiceDiscovery.Record {
    fileprivate init(answered record: DNSRecord) {
        self.init(
            name: record.name.description, type: record.type.description, timeToLive: Int(record.timeToLive),
            content: record.data.description, interface: nil, found: nil)
    }
}

extension SocketAddress {
    fileprivate var endpointHost: NWEndpoint.Host? {
        switch self {
        case .ipv4(let bits, _): .ipv4(IPv4Address(bits: bits))
        case .ipv6(let high, let low, _, let scope):
            .ipv6(
                IPv6Address(
                    high: high, low: low, interface: scope == 0 ? nil : NWInterface(index: Int(scope))))
        case .unix: nil
        }
    }
}
