package import CausewayWire

extension LinkBridge {
    /// Reports records added to and removed from a question's answers.
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
            guard links[side]?.hosts[question.name] != nil else { return }
            links[side]?.hosts[question.name]?.addresses.removeAll { old in removed.contains { $0.data == old.data } }
            links[side]?.hosts[question.name]?.addresses += added
            reviewUsers(of: question.name, side, at: now)
        default: break
        }
    }

    // MARK: Lists

    /// Processes a PTR record: a service mark, a browsed service, or neither.
    private mutating func listed(_ record: DNSRecord, _ side: Side, at now: Duration) {
        guard case .name(let name) = record.data, name.firstLabel != nil else { return }
        if let type = marks[record.name], name.droppingFirst() == type {
            links[side]?.marked[name] = Mark()
        } else if let type = lists[record.name], name.droppingFirst() == type {
            links[side]?.found[name, default: []].insert(record.name)
            adopt(name, side, at: now)
        }
        reconsider(name, side, at: now)
    }

    private mutating func unlisted(_ record: DNSRecord, _ side: Side, at now: Duration) {
        guard case .name(let name) = record.data else { return }
        if marks[record.name] != nil {
            links[side]?.marked[name]?.end = now + Self.memory
        } else if lists[record.name] != nil {
            links[side]?.found[name]?.remove(record.name)
            if links[side]?.found[name]?.isEmpty == true { forget(name, side, at: now) }
        }
        reconsider(name, side, at: now)
    }

    /// Reviews the name on both links: whether a service may cross depends on the names found on the other link.
    private mutating func reconsider(_ name: DNSName, _ side: Side, at now: Duration) {
        for side in Side.allCases { review(Place(name: name, side: side), at: now) }
    }

    // MARK: Services and hosts

    /// Starts SRV and TXT queries for a service to be registered on the other link.
    private mutating func adopt(_ name: DNSName, _ side: Side, at now: Duration) {
        guard sources.contains(side), let link = links[side], link.services[name] == nil,
            link.services.count < serviceLimit
        else { return }
        links[side]?.services[name] = Service(type: name.droppingFirst(), found: now)
        for type in [DNSRecordType.srv, .txt] { actions.append(.ask(DNSQuestion(name, type), on: side)) }
    }

    private mutating func forget(_ name: DNSName, _ side: Side, at now: Duration) {
        links[side]?.found[name] = nil
        guard let service = links[side]?.services[name] else { return }
        withdraw(Place(name: name, side: side), at: now)
        if let target = service.target { leave(target, name, side) }
        links[side]?.services[name] = nil
        for type in [DNSRecordType.srv, .txt] { actions.append(.stop(DNSQuestion(name, type), on: side)) }
        // The service limit was reached: adopt one service that it excluded.
        guard let link = links[side], link.services.count == serviceLimit - 1,
            let next = link.found.keys.lazy.filter({ link.services[$0] == nil }).min(by: Self.precedes)
        else { return }
        adopt(next, side, at: now)
        review(Place(name: next, side: side), at: now)
    }

    /// Processes changed SRV and TXT records. A new SRV target also changes the host whose addresses are queried.
    private mutating func describe(
        _ question: DNSQuestion, _ side: Side, _ added: [DNSRecord], _ removed: [DNSRecord], at now: Duration
    ) {
        guard var service = links[side]?.services[question.name] else { return }
        let before = service.target
        for record in removed {
            service.locations.removeAll { $0.data == record.data }
            service.texts.removeAll { $0.data == record.data }
        }
        for record in added {
            switch record.data {
            case .service: service.locations.append(record)
            case .text: service.texts.append(record)
            default: break
            }
        }
        links[side]?.services[question.name] = service
        if before != service.target {
            if let target = service.target { visit(target, question.name, side) }
            if let before { leave(before, question.name, side) }
        }
        review(Place(name: question.name, side: side), at: now)
    }

    /// Starts A and AAAA queries for a host, unless another service on it already did. Hosts outside `.local` are
    /// reachable from every link, so they need no query.
    private mutating func visit(_ host: DNSName, _ user: DNSName, _ side: Side) {
        guard host.isWithin(.local), host != .local else { return }
        if links[side]?.hosts[host] == nil {
            for type in [DNSRecordType.a, .aaaa] { actions.append(.ask(DNSQuestion(host, type), on: side)) }
        }
        links[side]?.hosts[host, default: Host()].users.insert(user)
    }

    /// Stops the address queries when the host has no more services.
    private mutating func leave(_ host: DNSName, _ user: DNSName, _ side: Side) {
        links[side]?.hosts[host]?.users.remove(user)
        guard links[side]?.hosts[host]?.users.isEmpty == true else { return }
        links[side]?.hosts[host] = nil
        for type in [DNSRecordType.a, .aaaa] { actions.append(.stop(DNSQuestion(host, type), on: side)) }
    }

    /// Reviews a host's services, sorted by name: the rate limit registers the first ones first, so the order must not
    /// be random.
    mutating func reviewUsers(of host: DNSName, _ side: Side, at now: Duration) {
        let users = (links[side]?.hosts[host]?.users ?? []).sorted(by: Self.precedes)
        for user in users { review(Place(name: user, side: side), at: now) }
    }
}
