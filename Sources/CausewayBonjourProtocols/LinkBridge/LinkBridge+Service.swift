internal import CausewayTypes
internal import CausewayWire

extension LinkBridge {
    /// A service that was found on one link, with its registration on the other link.
    struct Service: Sendable {
        enum Phase: Equatable, Sendable {
            case waiting
            /// The service is registered on the other link, but probing there is not finished.
            case probing
            case bridged
            /// The service's name is in use by another host on the other link. At the given time, the bridge tries to
            /// register this name again.
            case blocked(until: Duration)
        }

        /// How long to wait for a TXT record before the service is registered without one.
        private static let textPatience: Duration = .seconds(2)

        let type: DNSName
        private let found: Duration
        /// The service's SRV records in arrival order. The last one is used.
        private var locations: [DNSRecord] = []
        /// The service's TXT records, in the order in which they arrived. Only the last one is used.
        private var texts: [DNSRecord] = []
        private(set) var phase = Phase.waiting
        /// The service's records as registered on the other link. Empty if the service is not registered there.
        private(set) var told: [DNSRecord] = []
        /// The time at which the rate limit permits the registration of the service. `nil` if the service does not wait
        /// for the rate limit.
        private var start: Duration?

        init(type: DNSName, found: Duration) {
            self.type = type
            self.found = found
        }

        var isRegistered: Bool { phase == .probing || phase == .bridged }

        /// The times at which the bridge may have to register, update or withdraw the service. The caller skips times
        /// in the past.
        var moments: [Duration] {
            var moments = [found + Self.textPatience]
            if case .blocked(let end) = phase { moments.append(end) }
            if let start { moments.append(start) }
            return moments
        }

        /// The host name in the current SRV record.
        var target: DNSName? {
            guard case .service(_, _, _, let target)? = locations.last?.data else { return nil }
            return target
        }

        /// Returns the service's records for the other link. The PTR records that point to the service are not
        /// included. Returns `nil` if there is no SRV record. While the TXT record may still arrive, the result is also
        /// `nil`.
        ///
        /// - Parameters:
        ///   - name: The service name.
        ///   - host: The host's name on the other link.
        ///   - now: The current time.
        func records(as name: DNSName, on host: DNSName, at now: Duration) -> [DNSRecord]? {
            guard let location = locations.last,
                case .service(let priority, let weight, let port, _) = location.data,
                !texts.isEmpty || now - found >= Self.textPatience
            else { return nil }
            let time = MulticastDNS.otherTimeToLive
            let text = texts.last
            return [
                DNSRecord(
                    name, .srv, flushesCache: true, timeToLive: min(location.timeToLive, MulticastDNS.hostTimeToLive),
                    .service(priority: priority, weight: weight, port: port, target: host)),
                DNSRecord(
                    name, .txt, flushesCache: true, timeToLive: min(text?.timeToLive ?? time, time),
                    text?.data ?? .text([0])),
                DNSRecord(MulticastDNS.types, .ptr, timeToLive: time, .name(type)),
            ]
        }

        // MARK: Events

        /// Processes changed SRV and TXT records.
        mutating func recordsChanged(added: [DNSRecord], removed: [DNSRecord]) {
            for record in removed {
                locations.removeAll { $0.data == record.data }
                texts.removeAll { $0.data == record.data }
            }
            for record in added {
                switch record.data {
                case .service: locations.append(record)
                case .text: texts.append(record)
                default: break
                }
            }
        }

        mutating func registered(_ records: [DNSRecord]) {
            phase = .probing
            told = records
        }

        mutating func updated(_ records: [DNSRecord]) { told = records }

        /// Notes that the service's registration on the other link has passed probing. Returns `false` if the
        /// registration was not being probed.
        mutating func established() -> Bool {
            guard phase == .probing else { return false }
            phase = .bridged
            return true
        }

        /// Handles the end of the service's registration.
        ///
        /// - Parameter end: The time at which to try the name again, because another host uses it. `nil` if the service
        ///   can be registered again.
        mutating func ended(blockedUntil end: Duration? = nil) {
            phase = end.map { Phase.blocked(until: $0) } ?? .waiting
            told = []
        }

        mutating func postponed(until start: Duration?) { self.start = start }
    }

    /// A `.local` host with at least one service.
    struct Host: Sendable {
        /// Maximum number of names to try for each host. The host's own name is one of them.
        private static let aliasLimit = 8

        private(set) var users: Set<DNSName> = []
        private var addresses: [DNSRecord] = []
        /// The number of conflicts about the host's names on the other link, modulo ``aliasLimit``.
        private var attempt = 0

        mutating func joined(_ user: DNSName) { users.insert(user) }

        mutating func left(_ user: DNSName) { users.remove(user) }

        mutating func addressesChanged(added: [DNSRecord], removed: [DNSRecord]) {
            addresses.removeAll { old in removed.contains { $0.data == old.data } }
            addresses += added
        }

        /// Gives the host `name` its next alias. The current `alias` conflicts with a name on the other link.
        mutating func conflicted(_ name: DNSName, over alias: DNSName) {
            // Another service on the same host may already have reported this conflict. The host then already uses its
            // next alias. In that case do not change the alias again.
            if self.alias(of: name) == alias { attempt = (attempt + 1) % Self.aliasLimit }
        }

        /// Converts the host's addresses to records with the host's name on the other link. Link-local addresses are
        /// left out (RFC 3927 §2.7, RFC 4007 §5).
        func records(as name: DNSName) -> [DNSRecord] {
            guard let alias = alias(of: name) else { return [] }
            return addresses.compactMap { record in
                guard record.data.isAddressOfManyLinks else { return nil }
                let time = min(record.timeToLive, MulticastDNS.hostTimeToLive)
                return DNSRecord(alias, record.type, flushesCache: true, timeToLive: time, record.data)
            }
        }

        /// Returns the host's name on the other link. This is the host's own name, such as `mac`, or after conflicts
        /// `mac-2`, then `mac-3`.
        private func alias(of name: DNSName) -> DNSName? {
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
}

extension DNSRecordData {
    /// Whether the record contains a host's unicast address that is not limited to one link.
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
