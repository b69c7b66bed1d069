package import CausewayWire

/// Answers on one link for services of another: a discovery proxy between two links of multicast DNS (in the manner of RFC 8766).
///
/// For each type that it is told, it keeps asking on the link that services come from, and has them registered on the other, where
/// they are found like any others until they are gone. It does no I/O and reads no clock: its owner puts its questions, holds its
/// registrations, reports what becomes of both, and calls ``advance(to:)`` at ``nextDeadline``.
///
/// Several bridges between the same links do not feed each other, by three rules. What one has registered is listed under a subtype,
/// ``mark``, for others to see, and nobody takes what is listed so. Where a name is found on a link already, nobody registers it there.
/// And a link's machine must not hear what it says itself (``MulticastLink/hearsItself``), so nothing returns to where it was learnt.
package struct LinkBridge: Sendable {
    /// One of the two links.
    package enum Side: Int, Hashable, Sendable, CaseIterable {
        case near, far

        package var other: Side { self == .near ? .far : .near }
    }

    /// What the owner must do.
    package enum Action: Equatable, Sendable {
        case ask(DNSQuestion, on: Side)
        case stop(DNSQuestion, on: Side)
        /// Register what is said of a service and of its host, under the service's name.
        case register([DNSRecord], DNSName, on: Side)
        case update([DNSRecord], DNSName, on: Side)
        case withdraw(DNSName, on: Side)
        /// A service can be found on this side now.
        case bridged(DNSName, on: Side)
        /// It cannot any more.
        case ended(DNSName, on: Side)
        /// Somebody there has the name of a service. It is tried again later.
        case taken(DNSName, on: Side)
    }

    /// A name on one side.
    struct Place: Hashable, Sendable {
        var name: DNSName
        var side: Side
    }

    /// The subtype under which bridges list what is not of a link.
    package static let mark = "_bridged"
    /// Services that are taken from one link, unless another number is given.
    package static let serviceLimit = 1_000
    /// What is on the links already is learnt before anything is registered.
    package static let settling: Duration = .milliseconds(500)
    /// Registrations at one time, and the time that each costs.
    static let burst = 32
    static let pace: Duration = .milliseconds(100)
    /// A service that went is not registered again sooner.
    static let rest: Duration = .seconds(2)
    /// After somebody else turned out to have a name.
    static let patience: Duration = .seconds(60)
    /// How long others' mark counts when it has gone: what it marked goes with it, but not to the moment.
    static let memory: Duration = .seconds(10)
    /// How long a service may lack its TXT record before it is taken to have none.
    static let textPatience: Duration = .seconds(2)
    /// Names that are tried for a host.
    static let aliasLimit = 8

    /// By the name of a list, such as `_http._tcp.local` or a subtype's: the type's own.
    let lists: [DNSName: DNSName]
    /// By the name of the list of what bridges have registered: the type's own.
    let marks: [DNSName: DNSName]
    let sources: Set<Side>
    let serviceLimit: Int
    var links: [Side: Link] = [.near: Link(), .far: Link()]
    /// When something of a service must be looked at again.
    var due = DeadlineIndex<Place>()
    /// Services that went a moment ago, and until when they rest.
    var resting: [Place: Duration] = [:]
    var actions: [Action] = []
    private var opening: Duration?
    /// When the last of the registrations so far is paid for.
    private var paid: Duration = .zero

    /// - Parameters:
    ///   - types: Such as `_http._tcp`, perhaps with subtypes, under which a service is found on the other side only if they are named.
    ///   - sources: The sides whose services are made known on the other.
    ///   - serviceLimit: Services that are taken from one link.
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

    /// The name of a subtype's list (RFC 6763 §7.1).
    static func list(_ subtype: String, of type: DNSName) -> DNSName? {
        DNSName("_sub", in: type).flatMap { DNSName(subtype, in: $0) }
    }

    /// Begins to ask on both links: on the one for its services, on the other for names that must be left alone.
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

    package var nextDeadline: Duration? { due.next }

    /// Does what was put off until now.
    package mutating func advance(to now: Duration) {
        for place in due.takeDue(at: now) { review(place, at: now) }
    }

    /// What must be done, in this order.
    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// When a registration may be made.
    func start(of place: Place, at now: Duration) -> Duration {
        max(now, opening ?? now, resting[place] ?? now, paid - Self.pace * (Self.burst - 1))
    }

    /// Counts a registration.
    mutating func pay(at now: Duration) { paid = max(paid, now) + Self.pace }
}

extension LinkBridge {
    /// What is known of one link, and what of it is made known on the other.
    struct Link: Sendable {
        /// By the names of services: the lists in which they are found.
        var found: [DNSName: Set<DNSName>] = [:]
        /// What bridges say is not of this link.
        var marked: [DNSName: Mark] = [:]
        var services: [DNSName: Service] = [:]
        var hosts: [DNSName: Host] = [:]

        func isMarked(_ name: DNSName, at now: Duration) -> Bool { marked[name].map { !$0.isOver(at: now) } ?? false }
    }

    struct Mark: Sendable {
        /// Until when it counts, once they say so no more.
        var end: Duration?

        func isOver(at now: Duration) -> Bool { end.map { $0 <= now } ?? false }
    }

    /// A service that a link has.
    struct Service: Sendable {
        enum Phase: Equatable, Sendable {
            case waiting
            /// Registered on the other link, where others may still have the name.
            case probing
            case bridged
            /// Somebody has the name there.
            case blocked(until: Duration)
        }

        var type: DNSName
        var found: Duration
        /// In the order in which they came: of two the later one replaces the other.
        var locations: [DNSRecord] = []
        var texts: [DNSRecord] = []
        var phase = Phase.waiting
        /// What is registered.
        var told: [DNSRecord] = []
        /// When it may be registered, while it waits for that.
        var start: Duration?

        init(type: DNSName, found: Duration) {
            self.type = type
            self.found = found
        }

        var isRegistered: Bool { phase == .probing || phase == .bridged }

        /// The times at which it must be looked at again.
        var moments: [Duration] {
            var moments = [found + LinkBridge.textPatience]
            if case .blocked(let end) = phase { moments.append(end) }
            if let start { moments.append(start) }
            return moments
        }

        /// The host that it is on.
        var target: DNSName? {
            guard case .service(_, _, _, let target)? = locations.last?.data else { return nil }
            return target
        }
    }

    /// A host that some service of a link is on.
    struct Host: Sendable {
        var users: Set<DNSName> = []
        var addresses: [DNSRecord] = []
        /// How many names were tried on the other link before this one.
        var attempt = 0
    }
}
