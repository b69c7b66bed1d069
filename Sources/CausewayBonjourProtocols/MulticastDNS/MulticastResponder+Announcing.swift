internal import CausewayWire

/// Probes and announcements (RFC 6762 §8).
extension MulticastResponder {
    /// The number of announcements per registration. RFC 6762 §8.3 requires two. The other announcements are for hosts that missed the
    /// first two; they are left out if there are many registrations. Four announcements are sent 0, 1, 3 and 7 seconds after the probes,
    /// which take at most one second. `MulticastLossTests` requires that with half of all packets lost, over IPv4 and IPv6, 90 % of the
    /// hosts know a service two seconds after its registration, and 98 % after nine.
    private static let announcementCount: (few: UInt8, many: UInt8) = (few: 4, many: 2)
    private static let fewRegistrations = 100
    /// Maximum number of registrations per ``speak(at:)`` call, to limit memory for their messages.
    private static let speakerLimit = 512

    /// Sends due probes and announcements.
    mutating func speak(at now: Duration) -> [MulticastAction] {
        let isFew = registrations.count <= Self.fewRegistrations
        let announcements = isFew ? Self.announcementCount.few : Self.announcementCount.many
        var probes: [ProbeMessages.Probe] = []
        var announced: [DNSRecord] = []
        var seen: Set<DNSRecord> = []
        var established: [RegistrationID] = []
        for _ in 0..<Self.speakerLimit {
            guard let id = registrations.popDue(at: now) else { break }
            var actions: [MulticastRegistration.Action] = []
            change(id) { registration in
                registration.announcementCount = announcements
                actions = registration.advance(to: now)
            }
            guard let registration = registrations[id] else { continue }
            for action in actions {
                switch action {
                // Unicast responses may not arrive on a shared port: only the first probe asks for unicast responses.
                case .probe(let isFirst): probes.append((registration, acceptsUnicast && isFirst))
                case .established: established.append(id)
                case .announce(let isFirst):
                    let records = registration.records.filter { seen.insert($0).inserted }
                    announced += records.filter { !pending.isRecent($0, at: now) }
                    if isFew, !isFirst { postpone(records, at: now) }
                }
            }
        }
        if !established.isEmpty { queriers.registrationEstablished(at: now) }
        for record in announced { pending.wasSent(record, at: now) }
        return ProbeMessages.make(probes, limit: messageByteLimit, extensions).map { .send($0) }
            + established.map { .established($0) }
            + ResponseMessages.make(announced, [], limit: messageByteLimit, extensions).map { .send($0) }
    }

    /// Postpones the announcement of records that were multicast within the last second, because at least a second must
    /// pass between two multicasts (RFC 6762 §6). Records shared by several registrations are left out: another
    /// registration's announcement may have included them.
    private mutating func postpone(_ records: [DNSRecord], at now: Duration) {
        pending.add(records.filter { pending.isRecent($0, at: now) && !own.isShared($0) }, at: now)
    }

    /// The OPT record with the owner option; `nil` without ``owner``.
    private var extensions: DNSExtensions? {
        owner.map { owner in
            var extensions = DNSExtensions(payloadByteCount: UInt16(clamping: messageByteLimit))
            extensions.options = [owner.option]
            return extensions
        }
    }
}
