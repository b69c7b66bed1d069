internal import CausewayTypes
package import CausewayWire

extension LinkBridge {
    /// Reports that all names in a service's registration passed probing.
    package mutating func established(_ service: DNSName, on side: Side) {
        guard links[side.other]?.services[service]?.phase == .probing else { return }
        links[side.other]?.services[service]?.phase = .bridged
        actions.append(.bridged(service, on: side))
    }

    /// Reports that another host uses `name`, which is either the service's own name or its host's name. The registration has ended.
    ///
    /// After a conflict over the service name, the bridge retries after ``patience``. After a conflict over the host
    /// name, it registers again at once with the next alias.
    package mutating func conflicted(_ service: DNSName, over name: DNSName, on side: Side, at now: Duration) {
        let place = Place(name: service, side: side.other)
        guard let known = links[place.side]?.services[service], known.isRegistered else { return }
        if known.phase == .bridged { actions.append(.ended(service, on: side)) }
        links[place.side]?.services[service]?.told = []
        guard name != service, let host = known.target else {
            links[place.side]?.services[service]?.phase = .blocked(until: now + Self.patience)
            actions.append(.taken(service, on: side))
            return schedule(place, at: now)
        }
        links[place.side]?.services[service]?.phase = .waiting
        // Another service on this host may have reported the same conflict first and already moved to the next alias.
        if let old = links[place.side]?.hosts[host], old.alias(of: host) == name {
            links[place.side]?.hosts[host]?.attempt = (old.attempt + 1) % Self.aliasLimit
        }
        review(place, at: now)
        reviewUsers(of: host, place.side, at: now)
    }

    // MARK: Decisions

    /// Registers a service on the other link, updates its records there or withdraws it, and schedules the next review.
    mutating func review(_ place: Place, at now: Duration) {
        tidy(place, at: now)
        defer { schedule(place, at: now) }
        links[place.side]?.services[place.name]?.start = nil
        guard let service = links[place.side]?.services[place.name] else { return }
        guard mayCross(place, service, at: now), let records = records(of: place, service, at: now) else {
            return withdraw(place, at: now)
        }
        switch service.phase {
        case .probing, .bridged:
            guard records != service.told else { return }
            actions.append(.update(records, place.name, on: place.side.other))
            links[place.side]?.services[place.name]?.told = records
        case .blocked(let end) where end > now: return
        case .waiting, .blocked:
            let start = start(of: place, at: now)
            guard start == now else {
                links[place.side]?.services[place.name]?.start = start
                return
            }
            register(place, records, at: now)
        }
    }

    private mutating func register(_ place: Place, _ records: [DNSRecord], at now: Duration) {
        pay(at: now)
        links[place.side]?.services[place.name]?.phase = .probing
        links[place.side]?.services[place.name]?.told = records
        actions.append(.register(records, place.name, on: place.side.other))
    }

    /// Removes an expired mark and an expired resting period.
    private mutating func tidy(_ place: Place, at now: Duration) {
        if links[place.side]?.marked[place.name]?.isOver(at: now) == true {
            links[place.side]?.marked[place.name] = nil
        }
        if let end = resting[place], end <= now { resting[place] = nil }
    }

    private mutating func schedule(_ place: Place, at now: Duration) {
        var moments = links[place.side]?.services[place.name]?.moments ?? []
        if let end = links[place.side]?.marked[place.name]?.end { moments.append(end) }
        if let end = resting[place] { moments.append(end) }
        due[place] = moments.filter { $0 > now }.min()
    }

    /// Whether the service originates on its link (it has no bridge mark) and its name is free on the other link.
    private func mayCross(_ place: Place, _ service: Service, at now: Duration) -> Bool {
        guard let link = links[place.side], !link.isMarked(place.name, at: now) else { return false }
        // Once this bridge has registered the service, its name needs no check here. If another host has a record with this name, the
        // record is either identical or is reported as a conflict.
        return service.phase == .bridged || links[place.side.other]?.found[place.name] == nil
    }

    /// Withdraws a service. If it is still being probed, no host on the other link knows it yet, so the bridge does not report that the
    /// service has ended.
    mutating func withdraw(_ place: Place, at now: Duration) {
        guard let service = links[place.side]?.services[place.name], service.isRegistered else { return }
        links[place.side]?.services[place.name]?.phase = .waiting
        links[place.side]?.services[place.name]?.told = []
        actions.append(.withdraw(place.name, on: place.side.other))
        if service.phase == .bridged {
            actions.append(.ended(place.name, on: place.side.other))
            resting[place] = now + Self.rest
        }
    }

    // MARK: Records

    /// Returns a service's records for the other side; `nil` without an SRV record, without a routable host address, or
    /// while the TXT record may still arrive (``textPatience``).
    ///
    /// The result includes the host's address records, so the service is not announced before the host's name has passed probing too.
    private func records(of place: Place, _ service: Service, at now: Duration) -> [DNSRecord]? {
        guard let location = service.locations.last,
            case .service(let priority, let weight, let port, _) = location.data,
            let (alias, addresses) = host(of: service, place.side),
            !service.texts.isEmpty || now - service.found >= Self.textPatience
        else { return nil }
        let (name, time) = (place.name, MulticastDNS.otherTimeToLive)
        let text = service.texts.last
        let records = [
            DNSRecord(
                name, .srv, flushesCache: true, timeToLive: min(location.timeToLive, MulticastDNS.hostTimeToLive),
                .service(priority: priority, weight: weight, port: port, target: alias)),
            DNSRecord(
                name, .txt, flushesCache: true, timeToLive: min(text?.timeToLive ?? time, time),
                text?.data ?? .text([0])),
            DNSRecord(MulticastDNS.types, .ptr, timeToLive: time, .name(service.type)),
        ]
        var names = links[place.side]?.found[name] ?? []
        if let mark = Self.list(Self.mark, of: service.type) { names.insert(mark) }
        let lists = names.sorted { $0.wire.lexicographicallyPrecedes($1.wire) }
        return addresses + records + lists.map { DNSRecord($0, .ptr, timeToLive: time, .name(name)) }
    }

    /// Returns the host's name on the other side and its routable address records. Returns `nil` if a `.local` host has
    /// no routable address; hosts in other domains need no records.
    private func host(of service: Service, _ side: Side) -> (DNSName, [DNSRecord])? {
        guard let target = service.target else { return nil }
        guard let host = links[side]?.hosts[target] else { return target.isWithin(.local) ? nil : (target, []) }
        let records = host.records(as: target)
        return records.first.map { ($0.name, records) }
    }
}

extension LinkBridge.Host {
    /// Returns address records under the host's name on the other link. Link-local addresses are never included
    /// (RFC 3927 §2.7, RFC 4007 §5).
    func records(as name: DNSName) -> [DNSRecord] {
        guard let alias = alias(of: name) else { return [] }
        return addresses.compactMap { record in
            guard record.data.isAddressOfManyLinks else { return nil }
            let time = min(record.timeToLive, MulticastDNS.hostTimeToLive)
            return DNSRecord(alias, record.type, flushesCache: true, timeToLive: time, record.data)
        }
    }

    /// Returns the host's name on the other link, such as `mac`; after conflicts `mac-2`, then `mac-3`.
    func alias(of name: DNSName) -> DNSName? {
        guard attempt > 0, let label = name.firstLabel else { return name }
        let suffix = Array("-\(attempt + 1)".utf8)
        var stem = label.prefix(DNSName.maximumLabelByteCount - suffix.count)
        // Do not cut inside a UTF-8 sequence.
        if stem.count < label.count {
            while let last = stem.last, last & 0xC0 == 0x80 { stem.removeLast() }
            if let last = stem.last, last & 0xC0 == 0xC0 { stem.removeLast() }
        }
        return DNSName(stem + suffix, in: name.droppingFirst())
    }
}

extension DNSRecordData {
    /// Whether the data is a unicast host address that is valid on every link.
    fileprivate var isAddressOfManyLinks: Bool {
        switch self {
        case .ipv4(let address):
            !address.isLinkLocal && !address.isMulticast && ![0, 127].contains(address.bits >> 24)
                && address.bits != .max
        // ::/64 holds the unspecified address, the loopback address, and IPv4-mapped addresses.
        case .ipv6(let address): !address.isLinkLocal && !address.isMulticast && address.high != 0
        default: false
        }
    }
}
