internal import CausewayTypes
package import CausewayWire

/// The local configuration for name resolution: files and DNS settings.
package struct ResolverEnvironment: Sendable {
    package var configuration = ResolverConfiguration()
    package var hosts = HostsFile()
    package var order = NameServiceOrder()
    /// This host's name; `nil` if it has none.
    package var ownName: DNSName?

    package init() {}
}

/// An address's source.
package enum AddressOrigin: Hashable, Sendable {
    /// The address is from the hosts file, or the name has a fixed meaning (RFC 6761).
    case host
    case cache
    /// The answer is from the cache, but its time to live has expired.
    case expiredCache
    case query(DNSCarrier)
    /// Multicast DNS.
    case link
}

/// Finds the addresses of a host name. The sources are files, the cache, DNS and multicast DNS, in the order that the
/// host's configuration sets.
///
/// The lookup queries IPv4 and IPv6 addresses at the same time. It reports the addresses of each family as they arrive,
/// so that connection attempts can begin with the first addresses (RFC 8305 §3).
///
/// The lookup does no I/O: its owner performs the ``Action``s. Each lookup ends exactly once.
package struct NameLookup: Sendable {
    package enum Family: Hashable, Sendable, CaseIterable { case ipv4, ipv6 }

    package enum Action: Equatable, Sendable {
        /// Query the cache or DNS, and pass the answer to ``answered(_:_:with:from:)``.
        case ask(DNSName, DNSRecordType)
        /// Query multicast DNS for the name, and pass the answer to ``linkAnswered(_:)``.
        case askLink(DNSName)
        /// Addresses of one family were found. More addresses may follow.
        case found([InternetAddress], Family, AddressOrigin)
        /// No more addresses of this family will follow.
        case settled(Family)
        /// The lookup has ended for both address families. The associated problem is `nil` if addresses were found.
        case end(NameProblem?)
    }

    /// A name that is queried now.
    private struct Inquiry {
        let name: DNSName
        /// The address families that were queried, but whose answers have not arrived.
        var awaited: Set<Family> = []
        /// The address families to query next, in order. Their queries begin after all pending answers have arrived.
        var unasked: [Family] = []

        /// Returns the next address family to query, and marks its query as pending.
        ///
        /// Returns `nil` if an answer is still pending or if no family is left.
        mutating func next() -> Family? {
            guard awaited.isEmpty, !unasked.isEmpty else { return nil }
            let family = unasked.removeFirst()
            awaited = [family]
            return family
        }
    }

    private let name: String
    private let families: [Family]
    private let context: ResolverEnvironment
    /// The names that still have to be queried, in order.
    private var candidates: [DNSName] = []
    private var steps: ArraySlice<NameServiceOrder.Step>
    private var stopsAfterDNS: Set<NameServiceOrder.Status> = []
    private var current: Inquiry?
    private var failures = NameFailures()
    private var hasFound = false
    private var isOver = false

    /// - Parameter families: The address families that the caller can use. Other families are not queried.
    package init(_ name: String, families: Set<Family>, in context: ResolverEnvironment) {
        self.name = name
        var wanted = families
        if context.configuration.options.skipsIPv6, families.count > 1 { wanted.remove(.ipv6) }
        // Send the query for IPv6 addresses first (RFC 8305 §3).
        self.families = [.ipv6, .ipv4].filter(wanted.contains)
        self.context = context
        steps = context.order.steps[...]
    }

    // MARK: Events

    package mutating func begin() -> [Action] {
        guard !isOver else { return [] }
        guard let (name, isAbsolute) = DNSName.host(name) else { return end(.invalidName) }
        if let actions = fixed(name) { return actions }
        candidates = Self.candidates(name, isAbsolute: isAbsolute, context.configuration)
        return nextStep(name)
    }

    /// Processes the answer to an `ask` action.
    ///
    /// The cache may have an expired answer. In that case, the caller passes the expired answer first, and the fresh
    /// answer later.
    package mutating func answered(
        _ name: DNSName, _ type: DNSRecordType, with answer: DNSAnswer, from origin: AddressOrigin
    ) -> [Action] {
        let family: Family = type == .aaaa ? .ipv6 : .ipv4
        guard !isOver, let inquiry = current, name == inquiry.name, inquiry.awaited.contains(family) else { return [] }
        let addresses = answer.records.compactMap { InternetAddress($0.data) }
        if origin == .expiredCache {
            guard !addresses.isEmpty else { return [] }
            hasFound = true
            return [.found(addresses, family, origin)]
        }
        current?.awaited.remove(family)
        var actions: [Action] = []
        if !addresses.isEmpty {
            hasFound = true
            actions = [.found(addresses, family, origin), .settled(family)]
        } else {
            failures.note(answer.finding)
            if hasFound { actions = [.settled(family)] }
        }
        if let next = current?.next() { return actions + [Self.query(name, next)] }
        return actions + (current?.awaited.isEmpty == true ? nameEnded() : [])
    }

    package mutating func linkAnswered(_ addresses: [InternetAddress]) -> [Action] {
        guard !isOver, current != nil else { return [] }
        return use(addresses, .link) ?? end(.notFound)
    }

    private static func query(_ name: DNSName, _ family: Family) -> Action {
        .ask(name, family == .ipv6 ? .aaaa : .a)
    }

    // MARK: Names

    /// Resolves names with a fixed meaning (RFC 6761 §6, RFC 7686 §2).
    private mutating func fixed(_ name: DNSName) -> [Action]? {
        let ownEntry = context.hosts.addresses(of: name)
        if name.isWithin(Self.localhost) {
            let loopback: [InternetAddress] = [.ipv6(.loopback), .ipv4(.loopback)]
            return use(ownEntry.isEmpty ? loopback : ownEntry, .host) ?? end(.notFound)
        }
        if name.isRoot || name.isWithin(Self.invalid) || name.isWithin(Self.onion) { return end(.notFound) }
        return nil
    }

    private static let localhost: DNSName = "localhost"
    private static let invalid: DNSName = "invalid"
    private static let onion: DNSName = "onion"

    /// Returns the names to try, according to the options `search` and `ndots` of resolv.conf(5).
    static func candidates(
        _ name: DNSName, isAbsolute: Bool, _ configuration: ResolverConfiguration
    ) -> [DNSName] {
        guard !isAbsolute else { return [name] }
        let searched = configuration.searchDomains.prefix(32).compactMap { domain in
            DNSName.host(domain).flatMap { name.appending($0.name) }
        }
        let asItIs = name.dotCount >= configuration.options.dotThreshold
        return asItIs ? [name] + searched : searched + [name]
    }

    // MARK: Sources

    private mutating func nextStep(_ name: DNSName) -> [Action] {
        while let step = steps.popFirst() {
            switch step.source {
            case .files:
                if let actions = use(context.hosts.addresses(of: name), .host) { return actions }
                if step.stops.contains(.notfound) { return end(.notFound) }
            case .ownName:
                let isOwn = context.ownName.map { $0 == name } ?? false
                // The addresses ::1 and 127.0.0.2 always belong to this host. The module nss-myhostname uses the same
                // addresses.
                let own: [InternetAddress] = [.ipv6(.loopback), .ipv4(IPv4Address(bits: 0x7F00_0002))]
                if isOwn, let actions = use(own, .host) { return actions }
            case .multicast:
                guard name.isWithin(.local) else { continue }
                return askLink(name)
            case .dns:
                // Queries for `.local` names must not go to DNS servers (RFC 6762 §3, §22.1).
                if name.isWithin(.local) { return askLink(name) }
                stopsAfterDNS = step.stops
                return nextName()
            }
        }
        // A name in `.local` has no other source than multicast DNS. So query it even if the host's configuration does
        // not list multicast DNS.
        if name.isWithin(.local), name != .local, current == nil { return askLink(name) }
        return end(failures.problem)
    }

    private mutating func askLink(_ name: DNSName) -> [Action] {
        guard name != .local else { return end(.notFound) }
        current = Inquiry(name: name)
        steps = []
        return [.askLink(name)]
    }

    private mutating func nextName() -> [Action] {
        guard !candidates.isEmpty else { return dnsEnded() }
        let name = candidates.removeFirst()
        let isSequential = context.configuration.options.asksSequentially
        let first = isSequential ? Array(families.prefix(1)) : families
        current = Inquiry(
            name: name, awaited: Set(first), unasked: isSequential ? Array(families.dropFirst()) : [])
        return first.map { Self.query(name, $0) }
    }

    /// Called when the lookup has an answer for each address family of the current name. Ends the lookup, or continues
    /// with the next name or the next source.
    private mutating func nameEnded() -> [Action] {
        if hasFound { return end(nil) }
        return failures.areOfServers ? dnsEnded() : nextName()
    }

    private mutating func dnsEnded() -> [Action] {
        guard let (name, _) = DNSName.host(name), !stopsAfterDNS.contains(failures.worstStatus) else {
            return end(failures.problem)
        }
        return nextStep(name)
    }

    // MARK: Ending

    /// Reports the addresses that belong to the requested families. Then ends the lookup. Returns `nil` if there are no
    /// such addresses.
    private mutating func use(_ addresses: [InternetAddress], _ origin: AddressOrigin) -> [Action]? {
        var actions: [Action] = []
        for family in families {
            let fitting = addresses.filter { $0.lookupFamily == family }
            if !fitting.isEmpty { actions.append(.found(fitting, family, origin)) }
        }
        guard !actions.isEmpty else { return nil }
        hasFound = true
        return actions + end(nil)
    }

    private mutating func end(_ problem: NameProblem?) -> [Action] {
        guard !isOver else { return [] }
        isOver = true
        return [.end(hasFound ? nil : problem ?? .notFound)]
    }
}

extension InternetAddress {
    package var lookupFamily: NameLookup.Family {
        switch self {
        case .ipv4: .ipv4
        case .ipv6: .ipv6
        }
    }

    package init?(_ data: DNSRecordData) {
        switch data {
        case .ipv4(let address): self = .ipv4(address)
        case .ipv6(let address): self = .ipv6(address)
        case .name, .service, .text, .mail, .authority, .next, .binding, .opaque: return nil
        }
    }
}

extension NameLookup: UntimedMachine {
    package var hasEnded: Bool { isOver }
}
