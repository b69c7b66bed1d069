internal import CausewayWire

extension MulticastResponder {
    /// Checks a response for conflicts, and for answers that this host need not send any more.
    mutating func received(_ message: DNSMessage, _ arrival: MulticastArrival, isSelf: Bool, at now: Duration) {
        for records in [message.answers, message.authorities, message.additionals] {
            for record in records {
                if arrival.isMulticast, let own = own.held(record) {
                    // Another host has given the answer (RFC 6762 §7.4).
                    if record.timeToLive >= own.timeToLive { pending.forget(own) }
                    // The other host's TTL is less than half the correct one: announce the correct one (RFC 6762 §6.6).
                    if record.timeToLive < own.timeToLive / 2 { pending.add([own], at: now) }
                }
                // This host may have sent its other addresses, on another link or from another process. They are no conflict.
                if isSelf, record.type == .a || record.type == .aaaa { continue }
                for id in registrations.owners(of: record.name) { examine(record, id, arrival, at: now) }
            }
        }
    }

    /// Compares a received record with a registration, and handles a conflict: ignores the first one during probing,
    /// gives up the name at the next, or probes again if the registration is established.
    private mutating func examine(
        _ record: DNSRecord, _ id: RegistrationID, _ arrival: MulticastArrival, at now: Duration
    ) {
        guard let registration = registrations[id], record.timeToLive > 0 else { return }
        let own = registration.records.filter { $0.name == record.name && $0.flushesCache }
        guard !own.isEmpty, !own.contains(where: { $0.type == record.type && $0.data == record.data }) else { return }
        guard !starts.copies.isCopy(record, arrival, at: now) else { return }
        switch registration.phase {
        case .probing(let sent, _):
            // Another host uses the name. Responses before the first probe are ignored, because they cannot be replies
            // to a probe. After a lost tie-break they count, because the winner now owns the name.
            guard sent > 0 || registration.isDeferred, record.type != .nsec else { return }
            if arrival.isMulticast, !registration.wasForgiven, !registration.isDeferred {
                starts.conflicted(at: now)
                let next = starts.retry(at: now, after: MulticastRegistration.deferral)
                change(id) { $0.conflicted(retry: next) }
            } else {
                lose(id, record.name, at: now)
            }
        case .announcing, .established:
            // Probe again; the name's owner will defend it (RFC 6762 §9). Unsolicited responses count only if they are
            // multicast (RFC 6762 §11).
            guard arrival.isMulticast, own.contains(where: { $0.type == record.type }) else { return }
            starts.conflicted(at: now)
            let next = starts.retry(at: now, after: .zero)
            change(id) { $0.conflicted(retry: next) }
        case .asleep, .off: break
        }
    }

    /// Compares another host's probe with this host's simultaneous probes for the same name. After a lost tie-break,
    /// this host probes again one second later (RFC 6762 §8.2).
    mutating func compare(_ message: DNSMessage, at now: Duration) {
        for question in message.questions {
            for id in registrations.owners(of: question.name) {
                guard let registration = registrations[id], case .probing = registration.phase,
                    registration.loses(question.name, to: message.authorities)
                else { continue }
                let next = starts.retry(at: now, after: MulticastRegistration.deferral)
                change(id) { $0.tieBreakLost(retry: next) }
            }
        }
    }

    // MARK: Within this host

    /// Returns the first unique name in `content` that another registration on this host already uses with different
    /// data; `nil` if there is none.
    ///
    /// Address records are ignored: after an address change, registrations are updated one after another, so that two
    /// of them may differ for a moment. For the same reason, another registration is no rival if its record equals the
    /// record that `content` replaces: after a change of the host's name, the services are updated one after another. A
    /// record that the update does not change takes no name from another registration.
    ///
    /// - Parameter old: The registration that `content` replaces.
    func nameTaken(
        from content: RecordSet, replacing old: (id: RegistrationID, registration: MulticastRegistration)? = nil
    ) -> DNSName? {
        let replaced = old?.registration.records ?? []
        return content.records.first { record in
            guard record.flushesCache, record.type != .a, record.type != .aaaa else { return false }
            return registrations.owners(of: record.name).contains { id in
                guard id != old?.id, let other = registrations[id], other.phase != .off else { return false }
                let rivals = Set(other.records.filter { $0.flushesCache && $0.isAlternative(to: record) }.map(\.data))
                return !rivals.isEmpty && !rivals.contains(record.data)
                    && !replaced.contains {
                        $0.flushesCache && $0.isAlternative(to: record)
                            && ($0.data == record.data || rivals.contains($0.data))
                    }
            }
        }?.name
    }
}

extension DNSRecord {
    /// Whether both records have the same name and type, so that only one of them can be right if they are unique.
    fileprivate func isAlternative(to other: DNSRecord) -> Bool { name == other.name && type == other.type }
}
