@testable import CausewayBonjourProtocols
import CausewayTestKit
import CausewayTypes
import CausewayWire

/// Random tests for the state machines inside a ``MulticastLink``, and for the machine that limits its output.
enum MulticastTrials {
    static let all: [any MachineTesting] = [querier, registration, responder, pacer, pending, cache]

    private static let type: DNSName = "_t._tcp.local"

    // MARK: Querier

    private static var querier: any MachineTesting {
        MachineTrial("MulticastQuerier", model: ()) { random in
            var querier = MulticastQuerier(random: SplitMix64(seed: random.next()))
            querier.socketsChanged(isOneShot: random.chance(oneIn: 4))
            return querier
        } event: { querier, _, now, random in
            let id = QuestionID(rawValue: UInt64(random.integer(in: 1...4)))
            switch random.integer(in: 0...12) {
            case 0...2: return querier.ask(question(&random), id, at: now)
            case 3: querier.stop(id)
            case 4: querier.reconfirm(records(&random)[0], at: now)
            case 5: if random.chance(oneIn: 4) { querier.restart(at: now) }
            case 6: return random.chance(oneIn: 4) ? querier.clear() : []
            case 7: return querier.heard(response(&random), from: nil, at: now)
            case 8, 9: querier.overheard(query(&random), arrival(&random), at: now)
            default: return querier.received(response(&random), arrival(&random), at: now)
            }
            return []
        }
        // Do not compare the actions of the two machines. Both store records and questions in hash tables, so the order
        // in their messages and the random delays can differ.
        .comparing(.none)
    }

    // MARK: Responder

    private static var responder: any MachineTesting {
        MachineTrial("MulticastResponder", model: ()) { random in
            var responder = MulticastResponder(random: SplitMix64(seed: random.next()))
            responder.socketsChanged(acceptsUnicast: random.chance(oneIn: 2))
            return responder
        } event: { responder, _, now, random in
            let id = RegistrationID(rawValue: UInt64(random.integer(in: 1...4)))
            let content = RecordSet(records(&random, lifetimes: [120]))
            switch random.integer(in: 0...14) {
            case 0...2: responder.register(content, id, isKnownUnique: random.chance(oneIn: 4), at: now)
            case 3: responder.unregister(id)
            case 4, 5: responder.update(id, content, at: now)
            case 6: if random.chance(oneIn: 4) { responder.restart(at: now) }
            case 7: return random.chance(oneIn: 4) ? responder.sleep(isRepresented: random.chance(oneIn: 2)) : []
            case 8: return random.chance(oneIn: 4) ? responder.farewell() : []
            case 9: return responder.neighbourUnresolved(peer(&random), at: now)
            case 10, 11:
                let isSelf = random.chance(oneIn: 4)
                responder.received(response(&random), arrival(&random), isSelf: isSelf, at: now)
            default: return responder.asked(query(&random), arrival(&random), at: now)
            }
            return []
        }
    }

    private static var registration: any MachineTesting {
        MachineTrial("MulticastRegistration", model: ()) { random in
            let phase: MulticastRegistration.Phase =
                random.chance(oneIn: 3) ? .announcing(sent: 0, next: .zero) : .probing(sent: 0, next: .zero)
            return MulticastRegistration(
                RecordSet(records(&random)), phase: phase, isKnownUnique: random.chance(oneIn: 3))
        } event: { registration, _, now, random in
            let soon = now + .milliseconds(random.integer(in: 0...1_000))
            switch random.integer(in: 0...9) {
            case 0...2: _ = registration.recordsChanged(to: RecordSet(records(&random)), at: now)
            case 3, 4: registration.restarted(start: soon)
            case 5: registration.fellAsleep()
            case 6: registration.conflicted(retry: soon)
            case 7: registration.tieBreakLost(retry: soon)
            case 8: registration.announcementCount = UInt8(random.integer(in: 1...4))
            default: if random.chance(oneIn: 4) { registration.nameLost() }
            }
            return []
        }
    }

    private static var pending: any MachineTesting {
        MachineTrial("PendingAnswers", model: ()) { _ in
            PendingAnswers()
        } event: { pending, _, now, random in
            let records = records(&random, lifetimes: [120])
            let peer = peer(&random)
            let later = now + .milliseconds(random.integer(in: 0...500))
            let due = PendingAnswers.Due(
                later, isRandom: random.chance(oneIn: 2), isDefence: random.chance(oneIn: 4),
                repeats: random.integer(in: 0...3))
            switch random.integer(in: 0...13) {
            case 0, 1: pending.add(records, at: now)
            case 2, 3: pending.add(records, for: peer, due, now: now)
            case 4...6: pending.add(records, to: peer, due, now: now)
            case 7: pending.expectMore(of: peer, until: later, at: now)
            case 8: pending.suppress(records, of: peer)
            case 9: pending.postpone(peer, to: later)
            case 10: pending.arrived(Set(records), at: peer)
            case 11: pending.drop(records)
            case 12: _ = pending.takeUnconfirmed(of: peer)
            default: pending.wasSent(records[0], at: now)
            }
            return []
        }
    }

    private static var pacer: any MachineTesting {
        MachineTrial("PacketPacer", model: UInt8(0)) { _ in
            PacketPacer()
        } event: { pacer, number, now, random in
            guard !random.chance(oneIn: 10) else { return pacer.takeAll(at: now) }
            for _ in 0..<random.integer(in: 1...60) {
                number &+= 1
                if random.chance(oneIn: 2) { pacer.add([number]) } else { pacer.add([number], to: peer(&random)) }
            }
            return []
        }
    }

    // MARK: Cache

    private static var cache: any MachineTesting {
        MachineTrial("RecordCache", model: ()) { _ in
            RecordCache()
        } event: { cache, _, now, random in
            let soon = now + .milliseconds(random.integer(in: 0...10_000))
            switch random.integer(in: 0...11) {
            case 0: cache.flush(around: records(&random)[0], at: now)
            case 1: cache.update(question(&random)) { $0.missed(at: now) }
            case 2: cache.update(question(&random)) { $0.isWatched.toggle() }
            case 3: cache.update(question(&random)) { $0.end(by: soon) }
            case 4: if random.chance(oneIn: 4) { cache.updateAll { $0.end(by: soon) } }
            case 5: if random.chance(oneIn: 4) { cache.removeAll() }
            default:
                var generator: any RandomNumberGenerator & Sendable = SplitMix64(seed: 0)
                for record in records(&random) {
                    _ = cache.insert(
                        record, from: random.chance(oneIn: 4) ? nil : peer(&random).address, at: now,
                        jitter: Double.random(in: 0..<0.02, using: &random), isWatched: random.chance(oneIn: 2),
                        &generator)
                }
            }
            return []
        }
        // The records of one name are stored in a hash table, so their order can vary. Compare them without regard to
        // the order.
        .comparing(.withoutOrder)
    }

    // MARK: Messages

    private static func name(_ random: inout SplitMix64) -> DNSName {
        DNSName(["a", "b", "c"][random.integer(in: 0...2)], in: type) ?? type
    }

    private static func records(_ random: inout SplitMix64, lifetimes: [UInt32] = [0, 1, 20, 120]) -> [DNSRecord] {
        let name = name(&random)
        let time = lifetimes.randomElement(using: &random) ?? 120
        let text: [UInt8] = [1, UInt8(random.integer(in: 97...98))]
        let unique = DNSRecord(name, .txt, flushesCache: true, timeToLive: time, .text(text))
        guard !random.chance(oneIn: 4) else { return [unique] }
        let shared = DNSRecord(type, .ptr, timeToLive: time, .name(name))
        return random.chance(oneIn: 2) ? [unique, shared] : [shared, unique]
    }

    private static func question(_ random: inout SplitMix64) -> DNSQuestion {
        let acceptsUnicast = random.chance(oneIn: 3)
        guard !random.chance(oneIn: 2) else { return DNSQuestion(type, .ptr, acceptsUnicast: acceptsUnicast) }
        let type: DNSRecordType = [.txt, .srv, .any][random.integer(in: 0...2)]
        return DNSQuestion(name(&random), type, acceptsUnicast: acceptsUnicast)
    }

    /// Returns a random DNS message: a query, a probe, or a list of further known answers.
    private static func query(_ random: inout SplitMix64) -> DNSMessage {
        var message = DNSMessage()
        message.questions = random.chance(oneIn: 4) ? [] : [question(&random)]
        if random.chance(oneIn: 2) { message.answers = records(&random) }
        if random.chance(oneIn: 5) { message.authorities = records(&random) }
        if random.chance(oneIn: 4) { message.flags = .isTruncated }
        return message
    }

    private static func response(_ random: inout SplitMix64) -> DNSMessage {
        var message = DNSMessage()
        message.flags = [.isResponse, .isAuthoritative]
        message.answers = records(&random)
        let name = name(&random)
        if random.chance(oneIn: 4) {
            let denial = DNSRecordData.next(name, types: random.chance(oneIn: 2) ? [.srv] : [])
            message.additionals = [DNSRecord(name, .nsec, flushesCache: true, timeToLive: 120, denial)]
        }
        return message
    }

    private static func peer(_ random: inout SplitMix64) -> MulticastPeer {
        let address = IPv4Address(bits: 0x0A00_0002 + UInt32(random.integer(in: 0...2)))
        return MulticastPeer(.ipv4(address), port: random.chance(oneIn: 5) ? 40_000 : MulticastDNS.port)
    }

    private static func arrival(_ random: inout SplitMix64) -> MulticastArrival {
        MulticastArrival(
            from: peer(&random), isMulticast: !random.chance(oneIn: 4), isOnLink: !random.chance(oneIn: 8))
    }
}
