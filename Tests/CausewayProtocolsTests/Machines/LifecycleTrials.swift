import CausewayProtocols
import CausewayTestKit
import CausewayTypes
import CausewayWire

/// Random tests of the life cycles of connections, listeners and groups, and of their send queue.
enum LifecycleTrials {
    static var all: [any MachineTesting] { [connection, listener, group, membership, queue] }

    private static let failure = Failure(errno: 111)

    private static var connection: any MachineTesting {
        MachineTrial("ConnectionLifecycle", model: ()) { _ in
            ConnectionLifecycle()
        } event: { life, _, _, random in
            switch random.integer(in: 0...12) {
            case 0, 1: life.started()
            case 2: life.startedEstablished()
            case 3: life.startedWithMistake(failure)
            case 4, 5: life.established()
            case 6: life.endpointsExhausted(failure)
            case 7: life.retry()
            case 8: life.endpointCancelled(isDatagram: random.chance(oneIn: 2), failure: failure)
            case 9: life.broke(failure)
            case 10: life.lost(failure)
            case 11: life.cancelled(random.chance(oneIn: 2) ? .graceful : .abortive)
            default: life.closed()
            }
        }.ending { $0 == .report(.cancelled) }.untimed()
    }

    private static var listener: any MachineTesting {
        MachineTrial("ListenerLifecycle", model: ()) { _ in
            ListenerLifecycle()
        } event: { life, _, _, random in
            switch random.integer(in: 0...7) {
            case 0, 1: life.started()
            case 2: life.startedWithMistake(failure)
            case 3: life.opened()
            case 4: life.broke(failure)
            case 5, 6: life.closed()
            default: random.chance(oneIn: 3) ? life.cancelled() : []
            }
        }.ending {
            $0 == .report(.cancelled)
        } mayFollowEnd: {
            // A socket may open after the listener has ended. It must still be closed.
            $0 == .close
        }.untimed()
    }

    private static var group: any MachineTesting {
        MachineTrial("GroupLifecycle", model: ()) { _ in
            GroupLifecycle()
        } event: { life, _, _, random in
            switch random.integer(in: 0...8) {
            case 0, 1: life.started()
            case 2: life.startedWithMistake(failure)
            case 3, 4: life.membershipsChanged(to: random.integer(in: 0...2), reason: failure)
            case 5: life.broke(failure)
            case 6, 7: life.closed()
            default: random.chance(oneIn: 3) ? life.cancelled() : []
            }
        }.ending { $0 == .report(.cancelled) }.untimed()
    }

    private static var membership: any MachineTesting {
        let groups: [InternetAddress] = [
            .ipv4(IPv4Address("224.0.0.251") ?? .any), .ipv6(IPv6Address("ff02::fb") ?? .any),
        ]
        return MachineTrial("GroupMembership", model: ()) { _ in
            GroupMembership(groups: groups)
        } event: { membership, _, _, random in
            guard random.chance(oneIn: 2) else {
                membership.joinFailed(
                    .init(group: random.integer(in: 0...3), interface: random.integer(in: 0...3)), failure,
                    isGone: random.chance(oneIn: 2))
                return []
            }
            let all = (0...3).map { GroupMembership.Candidate(index: $0, families: [[.ipv4], [.ipv6]][$0 % 2]) }
            return membership.interfacesChanged(to: all.filter { _ in random.chance(oneIn: 2) })
        }.untimed()
    }

    private struct Tickets: Sendable {
        var all: [MessageTicket] = []
        /// The tickets of messages that the queue has sent or failed since the last event.
        var finished: [(ticket: MessageTicket?, progress: MessageTicket.Progress)] = []
    }

    private static var queue: any MachineTesting {
        MachineTrial("SendQueue", model: Tickets()) { _ in
            SendQueue<Int>()
        } event: { queue, tickets, now, random in
            for (ticket, progress) in tickets.finished { ticket?.progress = progress }
            tickets.finished = []
            switch random.integer(in: 0...5) {
            case 0: return queue.removeAll().map { .antecedentFailed($0) }
            case 1: return queue.withdraw { $0 % 5 == 0 }.map { [.antecedentFailed($0)] } ?? []
            case 2: return queue.next(at: now).map { [$0] } ?? []
            default:
                if random.chance(oneIn: 2) { tickets.all.append(MessageTicket()) }
                var entry = SendQueue.Entry(random.integer(in: 0...99))
                entry.ticket = tickets.all.last
                entry.endsMessage = random.chance(oneIn: 2)
                entry.priority = Double(random.integer(in: 0...2))
                entry.antecedent = tickets.all.dropLast().randomElement(using: &random)
                if random.chance(oneIn: 2) { entry.deadline = now + .milliseconds(random.integer(in: -10...5_000)) }
                queue.append(entry)
                return []
            }
        }.noting { tickets, step in
            switch step {
            case .send(let entry): if entry.endsMessage { tickets.finished.append((entry.ticket, .sent)) }
            case .expired(let entry), .antecedentFailed(let entry): tickets.finished.append((entry.ticket, .failed))
            }
        }
        // Do not compare the histories. They contain tickets, which are objects, and a ticket's text contains a memory
        // address.
        .comparing(.none)
    }
}
