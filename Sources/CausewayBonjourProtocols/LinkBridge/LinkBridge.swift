internal import CausewayTypes
package import CausewayWire

/// Makes services on one multicast DNS link visible on another, similar to a discovery proxy (RFC 8766).
///
/// For each configured service type, the bridge queries the source link continuously. It registers the found services
/// on the other link until they disappear. The bridge does no I/O and reads no clock. The code that runs the bridge
/// performs its actions, reports query and registration results, and calls ``advance(to:)`` at ``deadline``.
///
/// Three rules prevent loops between several bridges on the same links:
///
/// - With each service, a bridge also registers a PTR record under the subtype ``mark``. No bridge registers a service
///   that has such a record.
/// - No bridge registers a name that already exists on the link.
/// - Each link's ``MulticastLink`` must ignore its own messages (``MulticastLink/hearsItself`` is `false`), so that no
///   service returns to its source link.
package struct LinkBridge: Sendable {
    /// One of the two links that the bridge connects.
    package enum Side: Int, Hashable, Sendable, CaseIterable {
        case near, far

        package var other: Side { self == .near ? .far : .near }
    }

    /// An action or a report of the bridge, for the code that runs the bridge.
    package enum Action: Equatable, Sendable {
        case ask(DNSQuestion, on: Side)
        case stop(DNSQuestion, on: Side)
        /// Register the records of a service and of its host. The service name identifies the registration.
        case register([DNSRecord], DNSName, on: Side)
        case update([DNSRecord], DNSName, on: Side)
        case withdraw(DNSName, on: Side)
        /// The service's names have passed probing on this link. Queriers on the link can now find the service.
        case bridged(DNSName, on: Side)
        /// Queriers on this link can no longer find the service. Either the bridge withdrew it, or another host on this
        /// link uses the service name or the host name.
        case ended(DNSName, on: Side)
        /// Another host on this link uses the service name. The bridge retries after ``patience``.
        case taken(DNSName, on: Side)
    }

    /// A service name, and the link on which the service was found. The service is registered on the other link.
    struct Place: Hashable, Sendable {
        var name: DNSName
        var side: Side
    }

    /// The DNS-SD subtype under which a bridge lists services that come from another link.
    package static let mark = "_bridged"
    /// Default maximum number of services per link.
    package static let serviceLimit = 1_000
    /// How long the bridge collects the names on both links before its first registration.
    package static let settling: Duration = .milliseconds(500)
    /// How long the bridge waits before it registers a service again after a conflict over the service name.
    private static let patience: Duration = .seconds(60)

    /// The service type for each browsed name, such as `_http._tcp.local` or a subtype.
    private let lists: [DNSName: DNSName]
    /// The service type for each `_bridged` subtype name.
    private let marks: [DNSName: DNSName]
    private let sources: Set<Side>
    private let serviceLimit: Int
    private var links: [Side: Link] = [.near: Link(), .far: Link()]
    /// The time of the next check for each service. The check decides whether to register, update or withdraw the
    /// service on the other link.
    private var due = DeadlineIndex<Place>()
    private var pace = RegistrationPace()
    private var actions: [Action] = []

    /// - Parameters:
    ///   - types: The service types, such as `_http._tcp`. A service can be found under a subtype on the other side
    ///     only if the subtype is given here.
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

    static func precedes(_ left: DNSName, _ right: DNSName) -> Bool {
        left.wire.lexicographicallyPrecedes(right.wire)
    }

    // MARK: Queries

    /// Starts the queries on both links.
    ///
    /// The queries on a link depend on whether its services are to be registered on the other link. If so, the bridge
    /// queries this link for all service types and subtypes, and for the marks that bridges set. If not, the bridge
    /// queries this link only for types, to find the service names in use there.
    package mutating func start(at now: Duration) {
        guard pace.open(at: now + Self.settling) else { return }
        for side in Side.allCases {
            for list in lists.keys.sorted(by: Self.precedes) where sources.contains(side) || lists[list] == list {
                actions.append(.ask(DNSQuestion(list, .ptr), on: side))
            }
            guard sources.contains(side) else { continue }
            for mark in marks.keys.sorted(by: Self.precedes) { actions.append(.ask(DNSQuestion(mark, .ptr), on: side)) }
        }
    }

    private mutating func ask(_ name: DNSName, _ types: [DNSRecordType], _ side: Side) {
        for type in types { actions.append(.ask(DNSQuestion(name, type), on: side)) }
    }

    private mutating func stop(_ name: DNSName, _ types: [DNSRecordType], _ side: Side) {
        for type in types { actions.append(.stop(DNSQuestion(name, type), on: side)) }
    }

    /// Processes a change to the answer for a question: the records that were added and removed.
    package mutating func changed(
        _ question: DNSQuestion, on side: Side, added: [DNSRecord], removed: [DNSRecord], at now: Duration
    ) {
        switch question.type {
        case .ptr:
            for record in removed { unlisted(record, side, at: now) }
            for record in added { listed(record, side, at: now) }
        case .srv, .txt:
            describe(question, side, added, removed, at: now)
        case .a, .aaaa:
            links[side]?.addressesChanged(of: question.name, added: added, removed: removed)
            reviewUsers(of: question.name, side, at: now)
        default: break
        }
    }

    // MARK: Lists

    /// Processes a PTR record that points to a service. Under the subtype ``mark``, the record means that a bridge
    /// registered the service. Under a configured type or subtype, it means that the service exists. Other records are
    /// ignored.
    private mutating func listed(_ record: DNSRecord, _ side: Side, at now: Duration) {
        guard case .name(let name) = record.data, name.firstLabel != nil else { return }
        if let type = marks[record.name], name.droppingFirst() == type {
            links[side]?.markAdded(to: name)
        } else if let type = lists[record.name], name.droppingFirst() == type {
            links[side]?.listed(name, under: record.name)
            adopt(name, side, at: now)
        }
        reconsider(name, at: now)
    }

    private mutating func unlisted(_ record: DNSRecord, _ side: Side, at now: Duration) {
        guard case .name(let name) = record.data else { return }
        if marks[record.name] != nil {
            links[side]?.markRemoved(from: name, at: now)
        } else if lists[record.name] != nil, links[side]?.unlisted(name, under: record.name) == true {
            forget(name, side, at: now)
        }
        reconsider(name, at: now)
    }

    /// Checks the services with this name on both links. A service may be registered on the other link only if its name
    /// is free there. So a change on one link can affect both links.
    private mutating func reconsider(_ name: DNSName, at now: Duration) {
        for side in Side.allCases { review(Place(name: name, side: side), at: now) }
    }

    // MARK: Services and hosts

    /// Starts SRV and TXT queries for a service to be registered on the other link.
    private mutating func adopt(_ name: DNSName, _ side: Side, at now: Duration) {
        guard sources.contains(side), links[side]?.adopt(name, limit: serviceLimit, at: now) == true else { return }
        ask(name, [.srv, .txt], side)
    }

    private mutating func forget(_ name: DNSName, _ side: Side, at now: Duration) {
        guard let service = links[side]?.service(name) else { return }
        withdraw(Place(name: name, side: side), at: now)
        if let target = service.target { leave(target, name, side) }
        links[side]?.remove(name)
        stop(name, [.srv, .txt], side)
        // The service limit may have excluded another service. Add one such service in place of the removed service.
        guard let next = links[side]?.excluded(by: serviceLimit) else { return }
        adopt(next, side, at: now)
        review(Place(name: next, side: side), at: now)
    }

    /// Processes changed SRV and TXT records. A new SRV target also changes the host whose addresses are queried.
    private mutating func describe(
        _ question: DNSQuestion, _ side: Side, _ added: [DNSRecord], _ removed: [DNSRecord], at now: Duration
    ) {
        guard let (old, new) = links[side]?.described(question.name, added: added, removed: removed) else { return }
        if old != new {
            if let new { visit(new, question.name, side) }
            if let old { leave(old, question.name, side) }
        }
        review(Place(name: question.name, side: side), at: now)
    }

    /// Starts A and AAAA queries for a host. Does nothing if another service on the host has already started them.
    /// Hosts outside `.local` need no query, because every link can reach them.
    private mutating func visit(_ host: DNSName, _ user: DNSName, _ side: Side) {
        guard host.isWithin(.local), host != .local else { return }
        if links[side]?.visit(host, user) == true { ask(host, [.a, .aaaa], side) }
    }

    /// Removes a service from a host. If the host has no more services, stops the address queries for this host.
    private mutating func leave(_ host: DNSName, _ user: DNSName, _ side: Side) {
        if links[side]?.leave(host, user) == true { stop(host, [.a, .aaaa], side) }
    }

    /// Checks the services on a host, sorted by name. The rate limit may permit only some registrations. The order by
    /// name then decides which ones, so the choice is not random.
    private mutating func reviewUsers(of host: DNSName, _ side: Side, at now: Duration) {
        for user in links[side]?.users(of: host) ?? [] { review(Place(name: user, side: side), at: now) }
    }

    // MARK: Registrations

    /// Reports that all names in a service's registration passed probing.
    package mutating func established(_ service: DNSName, on side: Side) {
        if links[side.other]?.established(service) == true { actions.append(.bridged(service, on: side)) }
    }

    /// Reports that another host uses `name`. This is the name of the service, or the name of its host. The
    /// registration has ended.
    ///
    /// After a conflict over the service name, the bridge waits for ``patience`` before it tries again. After a
    /// conflict over the host name, it registers the service again at once, with the next alias.
    package mutating func conflicted(_ service: DNSName, over name: DNSName, on side: Side, at now: Duration) {
        let place = Place(name: service, side: side.other)
        guard let known = links[place.side]?.service(service), known.isRegistered else { return }
        if known.phase == .bridged { actions.append(.ended(service, on: side)) }
        guard name != service, let host = known.target else {
            links[place.side]?.ended(service, blockedUntil: now + Self.patience)
            actions.append(.taken(service, on: side))
            return schedule(place, at: now)
        }
        links[place.side]?.ended(service)
        links[place.side]?.conflicted(host, over: name)
        review(place, at: now)
        reviewUsers(of: host, place.side, at: now)
    }

    /// Checks a service. If necessary, registers it on the other link, updates its records there, or withdraws it.
    /// Schedules the next check.
    private mutating func review(_ place: Place, at now: Duration) {
        links[place.side]?.tidy(place.name, at: now)
        pace.tidy(place, at: now)
        defer { schedule(place, at: now) }
        guard let service = links[place.side]?.service(place.name) else { return }
        guard mayCross(place, service, at: now),
            let records = links[place.side]?.records(of: place.name, service, at: now)
        else { return withdraw(place, at: now) }
        switch service.phase {
        case .probing, .bridged:
            guard records != service.told else { return }
            actions.append(.update(records, place.name, on: place.side.other))
            links[place.side]?.updated(place.name, records)
        case .blocked(let end) where end > now: return
        case .waiting, .blocked:
            let start = pace.start(of: place, at: now)
            guard start == now else {
                links[place.side]?.postponed(place.name, until: start)
                return
            }
            register(place, records, at: now)
        }
    }

    private mutating func register(_ place: Place, _ records: [DNSRecord], at now: Duration) {
        pace.registered(at: now)
        links[place.side]?.registered(place.name, records)
        actions.append(.register(records, place.name, on: place.side.other))
    }

    private mutating func schedule(_ place: Place, at now: Duration) {
        var moments = links[place.side]?.moments(of: place.name) ?? []
        if let end = pace.restEnd(of: place) { moments.append(end) }
        due[place] = moments.filter { $0 > now }.min()
    }

    /// Whether the service may be registered on the other link. The service must originate on its own link, where no
    /// bridge has registered it, and its name must be free on the other link.
    private func mayCross(_ place: Place, _ service: Service, at now: Duration) -> Bool {
        guard links[place.side]?.isMarked(place.name, at: now) == false else { return false }
        // If this bridge has already registered the service, do not check whether the name is free. Another host's
        // record with this name is either identical or reported as a conflict.
        return service.phase == .bridged || links[place.side.other]?.isFound(place.name) != true
    }

    /// Withdraws a service from the other link. If the service is still being probed, no host on that link knows it.
    /// Then the bridge does not report its end.
    private mutating func withdraw(_ place: Place, at now: Duration) {
        guard let service = links[place.side]?.service(place.name), service.isRegistered else { return }
        links[place.side]?.ended(place.name)
        actions.append(.withdraw(place.name, on: place.side.other))
        if service.phase == .bridged {
            actions.append(.ended(place.name, on: place.side.other))
            pace.ended(place, at: now)
        }
    }

    // MARK: Time

    package var deadline: Duration? { due.next }

    /// Checks all services whose check time has passed.
    package mutating func advance(to now: Duration) {
        for place in due.takeDue(at: now) { review(place, at: now) }
    }

    /// Returns the actions to perform, in order, and clears the list.
    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }
}

extension LinkBridge: QueueingMachine {
    package var hasEnded: Bool { false }
}
