import CausewayTestKit

@testable import CausewayPeerProtocols

/// Random tests of the state machines for links and members.
enum LinkTrials {
    static var keepalive: any MachineTesting {
        MachineTrial("Keepalive", model: false) { random in
            Keepalive(at: .zero, asksFirst: random.chance(oneIn: 2))
        } event: { keepalive, _, now, random in
            if random.chance(oneIn: 3) { keepalive.probe(at: now) }
            if random.chance(oneIn: 3) { keepalive.heard(at: now) }
            return []
        }.ending(with: { $0 == .lost })
    }

    static var lane: any MachineTesting {
        MachineTrial("LaneWatch", model: false) { random in
            LaneWatch(probesWhenIdle: random.chance(oneIn: 2), at: .zero)
        } event: { lane, _, now, random in
            switch random.integer(in: 0...3) {
            case 0: lane.heard(at: now)
            case 1: lane.probe(at: now)
            default: lane.sent(at: now)
            }
            return []
        }.ending(with: { $0 == .lost })
    }

    private static let phases: [LinkMachine.Phase] = [
        .dialing, .greeting, .lobby, .joining, .joined, .lane, .leaving(.left),
    ]

    static var link: any MachineTesting {
        MachineTrial("LinkMachine", model: false) { random in
            LinkMachine(random.chance(oneIn: 2) ? .dialing : .greeting, at: .zero)
        } event: { link, _, now, random in
            switch random.integer(in: 0...5) {
            case 0, 1: link.heard(at: now)
            case 2: link.probe(at: now)
            case 3: link.enter(.joined, at: now)
            default:
                let limit: Duration? = random.chance(oneIn: 3) ? .milliseconds(random.integer(in: 0...5_000)) : nil
                link.enter(phases.randomElement(using: &random) ?? .lane, at: now, within: limit)
            }
            return []
        }
    }

    static var queue: any MachineTesting {
        MachineTrial("ReliableQueue", model: false) { _ in
            ReliableQueue()
        } event: { queue, _, now, random in
            let byteCount = random.integer(in: 0...(3 << 20))
            switch random.integer(in: 0...9) {
            case 0, 1, 2: queue.frameArrived(byteCount / 30, at: now)
            case 3: _ = queue.record(PeerFrame(.data, payload: [1, 2, 3]))
            case 4: if queue.messageBytesArrived(byteCount) { queue.messageDelivered(byteCount) }
            case 5: queue.consumed(byteCount, at: now)
            case 6: if queue.permits(messageBytes: byteCount) { queue.sentMessageBytes(byteCount) }
            case 7: _ = queue.nextReplay()
            case 8: _ = queue.resume(from: UInt64(random.integer(in: 0...5)), at: now)
            default:
                let limit = random.chance(oneIn: 9) ? UInt64.max : UInt64(random.integer(in: 0...9) << 20)
                let fields = PeerFields().with(1, UInt64(random.integer(in: 0...9))).with(2, limit)
                _ = try? queue.acknowledged(random.chance(oneIn: 9) ? [1] : fields.bytes)
            }
            return []
        }
    }

    /// The peer in a verification, with the frames that are in transit to it and from it.
    private struct Verifier: Sendable {
        var machine = LinkTrials.verifier(2, of: 1)
        var incoming: [PeerFrame] = []
        var outgoing: [PeerFrame] = []

        mutating func perform(_ actions: [VerificationMachine.Action]) {
            for case .send(let frame) in actions { outgoing.append(frame) }
        }
    }

    private static func verifier(_ own: UInt64, of other: UInt64) -> VerificationMachine {
        let exporter = [UInt8](repeating: 7, count: 32)
        let keys = [own, other].map { PeerKey(id: $0, high: $0, low: 0) }
        return VerificationMachine(.init(exporter: exporter, own: keys[0], other: keys[1]))
    }

    static var verification: any MachineTesting {
        MachineTrial("VerificationMachine", model: Verifier()) { _ in
            verifier(1, of: 2)
        } event: {
            machine, other, _, random in
            let nonce = random.bytes(VerificationMachine.nonceByteCount)
            switch random.integer(in: 0...11) {
            case 0: return machine.start(nonce: nonce)
            case 1: other.perform(other.machine.start(nonce: nonce))
            case 2: return machine.confirm(matches: !random.chance(oneIn: 5))
            case 3: other.perform(other.machine.confirm(matches: !random.chance(oneIn: 5)))
            case 4:
                guard random.chance(oneIn: 4) else { break }
                let type = PeerFrameType(rawValue: UInt8(random.integer(in: 0x38...0x3B))) ?? .sasResult
                return (try? machine.received(PeerFrame(type, payload: random.bytes(5)), nonce: nonce)) ?? []
            case 5, 6, 7:
                guard !other.incoming.isEmpty else { break }
                other.perform((try? other.machine.received(other.incoming.removeFirst(), nonce: nonce)) ?? [])
            default:
                guard !other.outgoing.isEmpty else { break }
                return (try? machine.received(other.outgoing.removeFirst(), nonce: nonce)) ?? []
            }
            return []
        }.noting { other, action in
            if case .send(let frame) = action { other.incoming.append(frame) }
        }.ending(with: { $0 == .report(.failed) }).untimed()
    }
}
