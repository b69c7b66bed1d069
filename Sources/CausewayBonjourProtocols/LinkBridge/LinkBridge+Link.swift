internal import CausewayWire

extension LinkBridge {
    /// The services and hosts that the bridge has found on one link. Each service's state includes its registration on
    /// the other link.
    struct Link: Sendable {
        /// A mark on a service. It shows that a bridge registered the service on this link.
        ///
        /// The mark is a PTR record under the subtype ``LinkBridge/mark``. A bridge does not register a marked service
        /// on another link.
        private struct Mark: Sendable {
            /// When the mark expires. `nil` as long as the PTR record that marks the service exists.
            var end: Duration?

            func isOver(at now: Duration) -> Bool { end.map { $0 <= now } ?? false }
        }

        /// How long a mark stays valid after its PTR record was removed.
        ///
        /// When a bridge withdraws a service, the mark can disappear just before the service. Without this delay, the
        /// service would then seem to come from this link, and the bridge could register it on the other link.
        private static let memory: Duration = .seconds(10)

        /// The services found on this link. For each service name, the names of the PTR records that point to it. These
        /// names are the service's type and its subtypes.
        private var found: [DNSName: Set<DNSName>] = [:]
        /// The services on this link that a bridge has registered. Each of them is marked by a PTR record.
        private var marked: [DNSName: Mark] = [:]
        private var services: [DNSName: Service] = [:]
        private var hosts: [DNSName: Host] = [:]

        // MARK: Lists

        mutating func markAdded(to name: DNSName) { marked[name] = Mark() }

        mutating func markRemoved(from name: DNSName, at now: Duration) { marked[name]?.end = now + Self.memory }

        func isMarked(_ name: DNSName, at now: Duration) -> Bool { marked[name].map { !$0.isOver(at: now) } ?? false }

        mutating func listed(_ name: DNSName, under list: DNSName) { found[name, default: []].insert(list) }

        /// Removes a service from the list of a type or subtype. Returns `true` if no other list contains the service.
        mutating func unlisted(_ name: DNSName, under list: DNSName) -> Bool {
            found[name]?.remove(list)
            guard found[name]?.isEmpty == true else { return false }
            found[name] = nil
            return true
        }

        func isFound(_ name: DNSName) -> Bool { found[name] != nil }

        // MARK: Services

        /// Adds a service. Returns `false` if the service is known already, or if the link has `limit` services.
        mutating func adopt(_ name: DNSName, limit: Int, at now: Duration) -> Bool {
            guard services[name] == nil, services.count < limit else { return false }
            services[name] = Service(type: name.droppingFirst(), found: now)
            return true
        }

        /// Returns a found service that was left out because of `limit`. Returns it only if the removal of another
        /// service has just made room for one service. Otherwise returns `nil`.
        func excluded(by limit: Int) -> DNSName? {
            guard services.count == limit - 1 else { return nil }
            return found.keys.lazy.filter { services[$0] == nil }.min(by: LinkBridge.precedes)
        }

        func service(_ name: DNSName) -> Service? { services[name] }

        mutating func remove(_ name: DNSName) { services[name] = nil }

        /// Processes changed SRV and TXT records. Returns the service's host before and after the change; `nil` if the
        /// service is unknown.
        mutating func described(
            _ name: DNSName, added: [DNSRecord], removed: [DNSRecord]
        ) -> (old: DNSName?, new: DNSName?)? {
            guard services[name] != nil else { return nil }
            let old = services[name]?.target
            services[name]?.recordsChanged(added: added, removed: removed)
            return (old, services[name]?.target)
        }

        /// Returns the records for registering a service on the other link.
        ///
        /// Returns `nil` if the service's host has no routable address, or while the service's own records are
        /// incomplete. The result includes the host's address records. So the host's name is probed together with the
        /// service name. The service is announced only after both names have passed probing.
        func records(of name: DNSName, _ service: Service, at now: Duration) -> [DNSRecord]? {
            guard let (alias, addresses) = host(of: service),
                let records = service.records(as: name, on: alias, at: now)
            else { return nil }
            var names = found[name] ?? []
            if let mark = LinkBridge.list(LinkBridge.mark, of: service.type) { names.insert(mark) }
            let lists = names.sorted(by: LinkBridge.precedes)
            return addresses + records
                + lists.map { DNSRecord($0, .ptr, timeToLive: MulticastDNS.otherTimeToLive, .name(name)) }
        }

        // MARK: Registrations

        /// Records that probing for a service on the other link was successful. Returns `false` if the service is
        /// unknown or was not being probed.
        mutating func established(_ name: DNSName) -> Bool { services[name]?.established() ?? false }

        mutating func registered(_ name: DNSName, _ records: [DNSRecord]) { services[name]?.registered(records) }

        mutating func updated(_ name: DNSName, _ records: [DNSRecord]) { services[name]?.updated(records) }

        mutating func postponed(_ name: DNSName, until start: Duration) { services[name]?.postponed(until: start) }

        mutating func ended(_ name: DNSName, blockedUntil end: Duration? = nil) {
            services[name]?.ended(blockedUntil: end)
        }

        /// Removes a service's mark if the mark has expired. A mark means that a bridge has registered the service.
        /// Also clears the time to which the rate limit has postponed the service's registration.
        mutating func tidy(_ name: DNSName, at now: Duration) {
            if marked[name]?.isOver(at: now) == true { marked[name] = nil }
            services[name]?.postponed(until: nil)
        }

        /// Returns the times at which the bridge may have to register, update or withdraw the service. The result can
        /// contain past times. The caller disregards them.
        func moments(of name: DNSName) -> [Duration] {
            var moments = services[name]?.moments ?? []
            if let end = marked[name]?.end { moments.append(end) }
            return moments
        }

        // MARK: Hosts

        /// Records that a service belongs to a host. Returns whether this is the host's first service.
        mutating func visit(_ host: DNSName, _ user: DNSName) -> Bool {
            let isNew = hosts[host] == nil
            hosts[host, default: Host()].joined(user)
            return isNew
        }

        /// Removes a service from its host. Returns whether the host has no more services.
        mutating func leave(_ host: DNSName, _ user: DNSName) -> Bool {
            hosts[host]?.left(user)
            guard hosts[host]?.users.isEmpty == true else { return false }
            hosts[host] = nil
            return true
        }

        mutating func addressesChanged(of host: DNSName, added: [DNSRecord], removed: [DNSRecord]) {
            hosts[host]?.addressesChanged(added: added, removed: removed)
        }

        /// Handles a conflict over the name that a host has on the other link.
        mutating func conflicted(_ host: DNSName, over alias: DNSName) {
            hosts[host]?.conflicted(host, over: alias)
        }

        /// Returns a host's services, sorted by name.
        func users(of host: DNSName) -> [DNSName] { (hosts[host]?.users ?? []).sorted(by: LinkBridge.precedes) }

        /// Returns the name of a service's host on the other link, and the host's routable address records.
        ///
        /// Returns `nil` if the host is not known yet, or if a `.local` host has no routable address. A host outside
        /// `.local` needs no records, because it can be reached from every link.
        private func host(of service: Service) -> (DNSName, [DNSRecord])? {
            guard let target = service.target else { return nil }
            guard let host = hosts[target] else { return target.isWithin(.local) ? nil : (target, []) }
            let records = host.records(as: target)
            return records.first.map { ($0.name, records) }
        }
    }
}
