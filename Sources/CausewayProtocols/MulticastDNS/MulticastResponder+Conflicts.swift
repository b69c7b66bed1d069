internal import CausewayWire

extension MulticastResponder {
    /// Looks for conflicts, and for answers that need not be given any more.
    mutating func received(_ message: DNSMessage, _ arrival: MulticastArrival, isSelf: Bool, at now: Duration) {
        for records in [message.answers, message.authorities, message.additionals] {
            for record in records {
                if !record.flushesCache, record.timeToLive > 0, own.holds(record.name) {
                    companions.note(record.name, at: now)
                }
                if arrival.isMulticast, let own = own.held(record) {
                    // Somebody else said it for us (RFC 6762 §7.4).
                    if record.timeToLive >= own.timeToLive { pending.forget(own) }
                    // Somebody lets others forget what still holds (RFC 6762 §6.6).
                    if record.timeToLive < own.timeToLive / 2 { pending.add([own], at: now) }
                }
                // This host's other links may say other addresses of it.
                if isSelf, record.type == .a || record.type == .aaaa { continue }
                for id in owners(of: record.name) { examine(record, id, arrival, at: now) }
            }
        }
    }

    private mutating func examine(
        _ record: DNSRecord, _ id: RegistrationID, _ arrival: MulticastArrival, at now: Duration
    ) {
        guard let registration = registrations[id], record.timeToLive > 0 else { return }
        let own = registration.records.filter { $0.name == record.name && $0.flushesCache }
        guard !own.isEmpty, !own.contains(where: { $0.type == record.type && $0.data == record.data }) else { return }
        switch registration.phase {
        case .probing(let sent, _):
            // The name is somebody else's, whatever it stands for. What was said before the first probe is no answer to it.
            guard sent > 0, record.type != .nsec else { return }
            if arrival.isMulticast, !registration.wasForgiven {
                change(id) { registration in
                    registration.wasForgiven = true
                    registration.phase = .probing(sent: 0, next: now + MulticastRegistration.deferral)
                }
            } else {
                lose(id, record.name, at: now)
            }
        case .announcing, .established:
            // Whoever is right will defend it (RFC 6762 §9). What nobody asked for counts only where all hear it (§11).
            guard arrival.isMulticast, own.contains(where: { $0.type == record.type }) else { return }
            change(id) { registration in
                registration.phase = .probing(sent: 0, next: now)
                registration.wasForgiven = true
            }
        case .asleep, .off: break
        }
    }

    /// Somebody probes for a name of ours that is not settled yet (RFC 6762 §8.2).
    mutating func compare(_ message: DNSMessage, at now: Duration) {
        for question in message.questions {
            for id in owners(of: question.name) {
                guard let registration = registrations[id], case .probing = registration.phase,
                    registration.loses(question.name, to: message.authorities)
                else { continue }
                change(id) { $0.phase = .probing(sent: 0, next: now + MulticastRegistration.deferral) }
            }
        }
    }
}
