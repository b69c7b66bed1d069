internal import CausewayMachines
package import CausewayWire

/// Makes services on one multicast DNS link visible on another, similar to a discovery proxy (RFC 8766).
///
/// For each configured service type the bridge queries the source link continuously, and registers the found services
/// on the other link until they disappear. The bridge does no I/O and reads no clock. Its owner performs the actions,
/// reports query and registration results, and calls ``advance(to:)`` at ``deadline``.
///
/// Three rules prevent loops between several bridges on the same links. First, a bridge lists its registrations under a
/// subtype, ``mark``, and no bridge registers services that are listed there. Second, no bridge registers a name that
/// already exists on the link. Third, each link's ``MulticastLink`` must ignore its own messages
/// (``MulticastLink/hearsItself``), so that no service returns to its source link.
package struct LinkBridge: Sendable {
    /// A link of the bridge.
    package enum Side: Int, Hashable, Sendable, CaseIterable {
        case near, far

        package var other: Side { self == .near ? .far : .near }
    }

    /// An action for the bridge's owner.
    package enum Action: Equatable, Sendable {
        case ask(DNSQuestion, on: Side)
        case stop(DNSQuestion, on: Side)
        /// Register these records, a service's and its host's, with the service name as identifier.
        case register([DNSRecord], DNSName, on: Side)
        case update([DNSRecord], DNSName, on: Side)
        case withdraw(DNSName, on: Side)
        /// The service's names passed probing on this side, so queriers there can find it.
        case bridged(DNSName, on: Side)
        /// Queriers on this side can no longer find the service: it was withdrawn or lost a name.
        case ended(DNSName, on: Side)
        /// Another host on this side uses the service name. The bridge retries after ``patience``.
        case taken(DNSName, on: Side)
    }

    /// A service name and the link it was found on. The service is registered on the other side.
    struct Place: Hashable, Sendable {
        var name: DNSName
        var side: Side
    }

    /// The subtype under which bridges list services from other links.
    package static let mark = "_bridged"
    /// Default maximum number of services per link.
    package static let serviceLimit = 1_000
    /// How long the bridge collects the names on both links before its first registration.
    package static let settling: Duration = .milliseconds(500)
    /// Maximum number of registrations at once. Further registrations follow at ``pace`` intervals.
    static let burst = 32
    static let pace: Duration = .milliseconds(100)
    /// Minimum time between withdrawing a service and registering it again.
    static let rest: Duration = .seconds(2)
    /// How long to wait after a conflict over a service name.
    static let patience: Duration = .seconds(60)
    /// How long a mark remains valid after its PTR record was removed. A service and its mark disappear at almost the
    /// same time. Without this delay, the bridge could see the service without its mark and register it.
    static let memory: Duration = .seconds(10)
    /// How long to wait for a TXT record before the service is registered without one.
    static let textPatience: Duration = .seconds(2)
    /// Maximum number of names to try per host, including its own.
    static let aliasLimit = 8

    /// The service type for each browsed name, such as `_http._tcp.local` or a subtype.
    let lists: [DNSName: DNSName]
    /// The service type for each `_bridged` subtype name.
    let marks: [DNSName: DNSName]
    let sources: Set<Side>
    let serviceLimit: Int
    var links: [Side: Link] = [.near: Link(), .far: Link()]
    /// Each service's next review time.
    var due = DeadlineIndex<Place>()
    /// Services that ended recently, with the time at which they may be registered again.
    var resting: [Place: Duration] = [:]
    var actions: [Action] = []
    /// The earliest time for any registration; `nil` before ``start(at:)``.
    private var opening: Duration?
    /// Rate limiter for registrations: each one moves this time forward by ``pace``, see ``start(of:at:)``.
    private var paid: Duration = .zero

    /// - Parameters:
    ///   - types: The service types, such as `_http._tcp`. A service can be found under a subtype on the other side only if the subtype is
    ///     given here.
    ///   - sources: The sides whose services are registered on the other side.
    ///   - serviceLimit: The maximum number of services per link.
    package init(
        _ types: [DNSServiceType], from sources: Set<Side>, serviceLimit: Int = LinkBridge.serviceLimit
    ) {
        var lists: [DNSName: DNSName] = [:]
        var marks: [DNSName: DNSName] = [:]
        for type in types {
            guard let name = type.name.appending(.local), let mark = Self.list(Self.mark, of: name) else { continue }
            lists[name] = name
            marks[mark] = name
            for subtype in type.subtypes {
                guard let list = Self.list(subtype, of: name), list != mark else { continue }
                lists[list] = name
            }
        }
        (self.lists, self.marks) = (lists, marks)
        (self.sources, self.serviceLimit) = (sources, serviceLimit)
    }

    /// Returns the name under which a subtype is browsed (RFC 6763 §7.1).
    static func list(_ subtype: String, of type: DNSName) -> DNSName? {
        DNSName("_sub", in: type).flatMap { DNSName(subtype, in: $0) }
    }

    /// Begins to query both links: the source for its services, the destination for names that are in use there.
    package mutating func start(at now: Duration) {
        guard opening == nil else { return }
        opening = now + Self.settling
        for side in Side.allCases {
            for list in lists.keys.sorted(by: Self.precedes) where sources.contains(side) || lists[list] == list {
                actions.append(.ask(DNSQuestion(list, .ptr), on: side))
            }
            guard sources.contains(side) else { continue }
            for mark in marks.keys.sorted(by: Self.precedes) { actions.append(.ask(DNSQuestion(mark, .ptr), on: side)) }
        }
    }

    static func precedes(_ left: DNSName, _ right: DNSName) -> Bool {
        left.wire.lexicographicallyPrecedes(right.wire)
    }

    // MARK: Time

    package var deadline: Duration? { due.next }

    /// Reviews the services whose review time has passed.
    package mutating func advance(to now: Duration) {
        for place in due.takeDue(at: now) { review(place, at: now) }
    }

    /// Returns the actions to perform, in order, and clears the list.
    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// Returns the earliest time at which the service may be registered.
    func start(of place: Place, at now: Duration) -> Duration {
        max(now, opening ?? now, resting[place] ?? now, paid - Self.pace * (Self.burst - 1))
    }

    /// Counts one registration for the rate limit.
    mutating func pay(at now: Duration) { paid = max(paid, now) + Self.pace }
}

extension LinkBridge {
    /// Services and hosts found on one link, and their registrations' state on the other link.
    struct Link: Sendable {
        /// For each service, the browsed names that list it.
        var found: [DNSName: Set<DNSName>] = [:]
        /// Services that a bridge registered here, with their marks.
        var marked: [DNSName: Mark] = [:]
        var services: [DNSName: Service] = [:]
        var hosts: [DNSName: Host] = [:]

        func isMarked(_ name: DNSName, at now: Duration) -> Bool { marked[name].map { !$0.isOver(at: now) } ?? false }
    }

    /// A bridge's mark: a PTR record under the subtype ``LinkBridge/mark``.
    struct Mark: Sendable {
        /// When the mark expires; `nil` while its PTR record exists.
        var end: Duration?

        func isOver(at now: Duration) -> Bool { end.map { $0 <= now } ?? false }
    }

    /// A service on a link.
    struct Service: Sendable {
        enum Phase: Equatable, Sendable {
            case waiting
            /// Registered on the other link, where probing is not finished.
            case probing
            case bridged
            /// A host on the other link uses the name.
            case blocked(until: Duration)
        }

        var type: DNSName
        var found: Duration
        /// The service's SRV records in arrival order. The last one is used.
        var locations: [DNSRecord] = []
        /// TXT records in arrival order. The last one is used.
        var texts: [DNSRecord] = []
        var phase = Phase.waiting
        /// The records registered on the other link; empty if the service is not registered.
        var told: [DNSRecord] = []
        /// When the rate limit permits registration; `nil` if no registration waits for it.
        var start: Duration?

        init(type: DNSName, found: Duration) {
            self.type = type
            self.found = found
        }

        var isRegistered: Bool { phase == .probing || phase == .bridged }

        /// Candidates for the next review time; past times are ignored.
        var moments: [Duration] {
            var moments = [found + LinkBridge.textPatience]
            if case .blocked(let end) = phase { moments.append(end) }
            if let start { moments.append(start) }
            return moments
        }

        /// The host name in the current SRV record.
        var target: DNSName? {
            guard case .service(_, _, _, let target)? = locations.last?.data else { return nil }
            return target
        }
    }

    /// A `.local` host with at least one service.
    struct Host: Sendable {
        var users: Set<DNSName> = []
        var addresses: [DNSRecord] = []
        /// The number of conflicts over the host's names on the other link, modulo ``LinkBridge/aliasLimit``.
        var attempt = 0
    }
}

extension LinkBridge: QueueingMachine {
    package var hasEnded: Bool { false }
}
