internal import CausewayMachines
package import CausewayWire

/// Makes the services of one link visible on another: a discovery proxy between two multicast DNS links (similar to RFC 8766).
///
/// For each configured service type the bridge queries the source link continuously, and registers the found services on the other link
/// until they disappear. The bridge does no I/O and reads no clock: its owner sends the queries, holds the registrations, reports the
/// results of both, and calls ``advance(to:)`` at ``deadline``.
///
/// Three rules prevent loops between several bridges on the same links. First, a bridge lists its registrations under a subtype, ``mark``,
/// and no bridge registers services that are listed there. Second, no bridge registers a name that already exists on the link. Third, the
/// multicast DNS instance of a link must not receive its own messages (``MulticastLink/hearsItself``), so that no service returns to the
/// link that it came from.
package struct LinkBridge: Sendable {
    /// One of the two links.
    package enum Side: Int, Hashable, Sendable, CaseIterable {
        case near, far

        package var other: Side { self == .near ? .far : .near }
    }

    /// An action that the owner of the bridge must perform.
    package enum Action: Equatable, Sendable {
        case ask(DNSQuestion, on: Side)
        case stop(DNSQuestion, on: Side)
        /// Register the records of a service and its host, under the name of the service.
        case register([DNSRecord], DNSName, on: Side)
        case update([DNSRecord], DNSName, on: Side)
        case withdraw(DNSName, on: Side)
        /// The service can now be found on this side.
        case bridged(DNSName, on: Side)
        /// The service can no longer be found on this side.
        case ended(DNSName, on: Side)
        /// Another host on this side has the name of the service. The bridge tries again later.
        case taken(DNSName, on: Side)
    }

    /// A name on one side.
    struct Place: Hashable, Sendable {
        var name: DNSName
        var side: Side
    }

    /// The subtype under which bridges list the services of other links.
    package static let mark = "_bridged"
    /// The default for the maximum number of services from one link.
    package static let serviceLimit = 1_000
    /// How long the bridge learns the names on both links before its first registration.
    package static let settling: Duration = .milliseconds(500)
    /// `burst` is the maximum number of registrations at once. Further registrations follow at intervals of `pace`.
    static let burst = 32
    static let pace: Duration = .milliseconds(100)
    /// The minimum time between the end of a service and its next registration.
    static let rest: Duration = .seconds(2)
    /// The waiting time after a conflict over the name of a service.
    static let patience: Duration = .seconds(60)
    /// How long a mark remains valid after it has disappeared from the list. A service and its mark disappear at almost the same time;
    /// without this delay, the bridge could find the service without its mark.
    static let memory: Duration = .seconds(10)
    /// How long to wait for a TXT record before the service is registered without one.
    static let textPatience: Duration = .seconds(2)
    /// The maximum number of names to try for a host.
    static let aliasLimit = 8

    /// The service type for each browsed name, such as `_http._tcp.local` or a subtype.
    let lists: [DNSName: DNSName]
    /// For each name under which marked services are listed: the service type.
    let marks: [DNSName: DNSName]
    let sources: Set<Side>
    let serviceLimit: Int
    var links: [Side: Link] = [.near: Link(), .far: Link()]
    /// The time of the next review of each service.
    var due = DeadlineIndex<Place>()
    /// Services that ended recently, with the time at which they may be registered again.
    var resting: [Place: Duration] = [:]
    var actions: [Action] = []
    private var opening: Duration?
    /// Each registration moves this time forward by ``pace``. ``start(of:at:)`` uses it to limit the rate of registrations.
    private var paid: Duration = .zero

    /// - Parameters:
    ///   - types: The service types, such as `_http._tcp`. A service can be found under a subtype on the other side only if the subtype is
    ///     given here.
    ///   - sources: The sides whose services are registered on the other side.
    ///   - serviceLimit: The maximum number of services from one link.
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

    private static func precedes(_ left: DNSName, _ right: DNSName) -> Bool {
        left.wire.lexicographicallyPrecedes(right.wire)
    }

    // MARK: Time

    package var deadline: Duration? { due.next }

    /// Reviews the services that are due for a review.
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
    /// The services and hosts that are known on one link, and the state of the services on the other link.
    struct Link: Sendable {
        /// For each service: the browsed names under which it was found.
        var found: [DNSName: Set<DNSName>] = [:]
        /// Services that bridges have marked as services of another link.
        var marked: [DNSName: Mark] = [:]
        var services: [DNSName: Service] = [:]
        var hosts: [DNSName: Host] = [:]

        func isMarked(_ name: DNSName, at now: Duration) -> Bool { marked[name].map { !$0.isOver(at: now) } ?? false }
    }

    struct Mark: Sendable {
        /// When the mark expires; `nil` while the mark is still listed.
        var end: Duration?

        func isOver(at now: Duration) -> Bool { end.map { $0 <= now } ?? false }
    }

    /// A service on a link.
    struct Service: Sendable {
        enum Phase: Equatable, Sendable {
            case waiting
            /// The service is registered on the other link, but probing is not finished.
            case probing
            case bridged
            /// Another host on the other link has the name.
            case blocked(until: Duration)
        }

        var type: DNSName
        var found: Duration
        /// The SRV records of the service in order of arrival. The last record is used.
        var locations: [DNSRecord] = []
        var texts: [DNSRecord] = []
        var phase = Phase.waiting
        /// The records of the service that are registered on the other link.
        var told: [DNSRecord] = []
        /// The time of the planned registration; `nil` if none is planned.
        var start: Duration?

        init(type: DNSName, found: Duration) {
            self.type = type
            self.found = found
        }

        var isRegistered: Bool { phase == .probing || phase == .bridged }

        /// The possible times of the next review.
        var moments: [Duration] {
            var moments = [found + LinkBridge.textPatience]
            if case .blocked(let end) = phase { moments.append(end) }
            if let start { moments.append(start) }
            return moments
        }

        /// The host of the service.
        var target: DNSName? {
            guard case .service(_, _, _, let target)? = locations.last?.data else { return nil }
            return target
        }
    }

    /// A host with at least one service.
    struct Host: Sendable {
        var users: Set<DNSName> = []
        var addresses: [DNSRecord] = []
        /// The number of names that had conflicts on the other link.
        var attempt = 0
    }
}

extension LinkBridge: QueueingMachine {
    package var hasEnded: Bool { false }
}
