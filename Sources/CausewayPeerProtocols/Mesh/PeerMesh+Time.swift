extension PeerMesh {
    /// When to call ``advance(to:)`` next; `nil` if no deadline is pending.
    package var deadline: Duration? {
        var earliest: Duration?
        func note(_ time: Duration?) {
            guard let time else { return }
            earliest = min(earliest ?? time, time)
        }
        for link in links.values { note(link.machine.deadline) }
        for session in sessions.values {
            for member in session.members.values {
                note(Self.deadline(of: member))
                note(member.datagrams.nextTime)
            }
        }
        return earliest
    }

    private static func deadline(of member: Boxed<Member>) -> Duration? {
        switch member.phase {
        case .inviting(let invitation): invitation.deadline
        case .expected(let expectation): min(expectation.deadline, expectation.dialTime ?? expectation.deadline)
        case .joining: nil
        case .joined:
            [member.link == nil ? nil : member.traffic?.queue.deadline, member.repair.nextDial].compactMap { $0 }.min()
        case .suspended(let end): min(end, member.repair.nextDial ?? end)
        }
    }

    /// Handles all deadlines up to now. Calls that are early, late or repeated are harmless.
    package mutating func advance(to now: Duration) {
        for id in links.keys.sorted() {
            for alarm in links[id]?.machine.advance(to: now) ?? [] {
                switch alarm {
                case .keepalive(let alarm): keepaliveAlarm(alarm, on: id, at: now)
                case .expired: phaseExpired(id, at: now)
                }
            }
        }
        for member in allMembers() {
            advance(member, to: now)
            advanceDatagrams(member, to: now)
        }
    }

    private mutating func advance(_ member: MemberID, to now: Duration) {
        guard let found = self[member] else { return }
        switch found.phase {
        case .inviting(let invitation): if invitation.deadline <= now { fail(member, .timedOut, at: now) }
        case .expected(let expectation):
            guard expectation.deadline > now else { return fail(member, .unreachable, at: now) }
            dialIfDue(member, at: now)
        case .joining: break
        case .joined:
            redialIfDue(member, at: now)
            // An acknowledgment is due. If the network code was already notified of output, it takes the acknowledgment
            // together with that output.
            if let deadline = found.traffic?.queue.deadline, deadline <= now {
                acknowledge(member, at: now)
            }
        case .suspended(let end):
            guard end > now else { return fail(member, .lost, at: now) }
            redialIfDue(member, at: now)
        }
    }

    /// If an acknowledgment is due, queues it among the link's urgent frames. The acknowledgment then has no deadline
    /// any more.
    private mutating func acknowledge(_ member: MemberID, at now: Duration) {
        guard let link = self[member]?.link,
            let frame = sessions[member.session]?.members[member.peer]?.traffic?.queue.acknowledgment(at: now)
        else { return }
        send(frame, on: link, at: now)
    }

    private mutating func phaseExpired(_ id: LinkID, at now: Duration) {
        guard let link = links[id] else { return }
        switch link.phase {
        case .leaving(let reason):
            // The output was not sent in time, so drop it. Then allow another half second for sending the BYE frame.
            guard links[id]?.output.farewell != nil else { return close(id) }
            links[id]?.output.farewell = nil
            links[id]?.machine.enter(.leaving(reason), at: now)
            announce(id, at: now)
        // A peer whose HELLO names no session has sent an invitation and waits for an answer. Any other peer is already
        // joining and needs no answer.
        case .lobby where !link.isDialler && link.hello?.target == nil:
            send(PeerBodies.reason(.decline, .timedOut), on: id, at: now)
            end(id, .timedOut, at: now)
        case .dialing: dialFailed(id, at: now)
        case .greeting, .lobby, .joining, .joined, .lane: end(id, .timedOut, at: now)
        }
    }
}
