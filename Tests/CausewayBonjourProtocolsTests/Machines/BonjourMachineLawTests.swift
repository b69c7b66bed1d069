import CausewayBonjourProtocols
import CausewayTestKit
import CausewayTypes
import CausewayWire
import Testing

@Suite("The five laws of Bonjour's state machines")
struct BonjourMachineLawTests {
    static let trials: [any MachineTesting] =
        [BonjourTrials.claim, BonjourTrials.sleepProxy, BonjourTrials.bridge, BonjourTrials.link] + MulticastTrials.all

    @Test("A machine obeys the five laws in random histories", arguments: trials)
    func obeysLaws(_ trial: any MachineTesting) {
        for breach in trial.breaches(seeds: MachineSeeds.range) { Issue.record("\(breach)") }
    }

    @Test("Each machine has one trial")
    func hasOneTrial() {
        let names = [
            "LinkLocalClaim", "SleepProxyClient", "LinkBridge", "MulticastLink", "MulticastQuerier",
            "MulticastRegistration", "MulticastResponder", "PacketPacer", "PendingAnswers", "RecordCache",
        ]
        #expect(Self.trials.map(\.name) == names)
    }
}

enum BonjourTrials {
    private static let address = IPv4Address(bits: 0xA9FE_0909)
    private static let type: DNSName = "_t._tcp.local"

    static var claim: any MachineTesting {
        MachineTrial("LinkLocalClaim", model: [address]) { random in
            LinkLocalClaim(
                LinkAddress(bits: 1), remembered: random.chance(oneIn: 2) ? address : nil,
                random: SplitMix64(seed: random.next()))
        } event: { claim, seen, now, random in
            switch random.integer(in: 0...9) {
            case 0...3:
                return claim.linkChanged(isUp: !random.chance(oneIn: 4), hasRoutable: random.chance(oneIn: 4), at: now)
            case 4: return random.chance(oneIn: 4) ? claim.end() : []
            default:
                let sender = random.chance(oneIn: 3) ? IPv4Address(bits: 0) : seen.randomElement(using: &random)
                let message = ARPMessage(
                    random.chance(oneIn: 2) ? .request : .reply,
                    senderLink: LinkAddress(bits: UInt64(random.integer(in: 1...3))), sender: sender ?? address,
                    target: seen.randomElement(using: &random) ?? address)
                return claim.received(message, at: now)
            }
        }.noting { seen, action in
            switch action {
            case .send(let message): seen = [address, message.target]
            case .assign(let address): seen = [address]
            case .release, .prefer, .conflicted: break
            }
        }
    }

    static var sleepProxy: any MachineTesting {
        MachineTrial("SleepProxyClient", model: [UInt8]()) { random in
            SleepProxyClient(random: SplitMix64(seed: random.next()))
        } event: { client, sent, now, random in
            switch random.integer(in: 0...9) {
            case 0: client.start()
            case 1, 2:
                let owner = DNSOwner(sequence: 1, primary: LinkAddress(bits: 1))
                client.sleep(.init([DNSRecord(.local, .txt, timeToLive: 9, .text([0]))], of: owner), at: now)
            case 3: client.wake()
            case 4:
                let reply =
                    Array(sent.prefix(2)) + [0xA8, random.chance(oneIn: 3) ? 5 : 0] + [UInt8](repeating: 0, count: 8)
                client.received(reply.span, from: proxy, at: now)
            default:
                let record = proxyRecord(&random)
                let question = DNSQuestion(record.name, record.type)
                let isNew = !random.chance(oneIn: 5)
                client.changed(question, added: isNew ? [record] : [], removed: isNew ? [] : [record])
            }
            return []
        }.noting { sent, action in
            if case .send(let bytes, _) = action { sent = bytes }
        }
    }

    private static let proxy = MulticastPeer(.ipv4(IPv4Address(bits: 0x0A00_0001)), port: 9)

    private static func proxyRecord(_ random: inout SplitMix64) -> DNSRecord {
        // The numbers in this range give more proxy names than the client looks up.
        let name = DNSName("10-20-30-\(random.integer(in: 40...60)).0", in: SleepProxyClient.type) ?? .local
        let host = DNSName("proxy", in: .local) ?? .local
        switch random.integer(in: 0...2) {
        case 0: return DNSRecord(SleepProxyClient.type, .ptr, timeToLive: 9, .name(name))
        case 1:
            return DNSRecord(name, .srv, timeToLive: 9, .service(priority: 0, weight: 0, port: 9, target: host))
        default: return DNSRecord(host, .a, timeToLive: 9, .ipv4(IPv4Address(bits: 0x0A00_0001)))
        }
    }

    static var bridge: any MachineTesting {
        MachineTrial("LinkBridge", model: [DNSQuestion(type, .ptr)]) { _ in
            LinkBridge((try? [DNSServiceType("_t._tcp")]) ?? [], from: [.near, .far], serviceLimit: 4)
        } event: { bridge, questions, now, random in
            let side: LinkBridge.Side = random.chance(oneIn: 2) ? .near : .far
            switch random.integer(in: 0...9) {
            case 0: bridge.start(at: now)
            case 1: bridge.established(service(&random), on: side)
            case 2: bridge.conflicted(service(&random), over: service(&random), on: side, at: now)
            default:
                let question = questions.randomElement(using: &random) ?? DNSQuestion(type, .ptr)
                let records = [record(question, &random)]
                let isNew = !random.chance(oneIn: 4)
                bridge.changed(question, on: side, added: isNew ? records : [], removed: isNew ? [] : records, at: now)
            }
            return []
        }.noting { questions, action in
            if case .ask(let question, _) = action { questions.append(question) }
        }
    }

    private static func service(_ random: inout SplitMix64) -> DNSName {
        DNSName(["a", "b", "c"][random.integer(in: 0...2)], in: type) ?? type
    }

    private static func record(_ question: DNSQuestion, _ random: inout SplitMix64) -> DNSRecord {
        let name = question.name
        let host = DNSName("h\(random.integer(in: 0...2))", in: .local) ?? .local
        switch question.type {
        case .ptr: return DNSRecord(name, .ptr, timeToLive: 4_500, .name(service(&random)))
        case .srv:
            return DNSRecord(
                name, .srv, flushesCache: true, timeToLive: 120,
                .service(priority: 0, weight: 0, port: 1, target: host))
        case .txt: return DNSRecord(name, .txt, flushesCache: true, timeToLive: 4_500, .text([1, 97]))
        default:
            let address = IPv4Address(bits: 0xC000_0200 + UInt32(random.integer(in: 0...3)))
            return DNSRecord(name, .a, flushesCache: true, timeToLive: 120, .ipv4(address))
        }
    }

    static var link: any MachineTesting {
        MachineTrial("MulticastLink", model: [[UInt8]]()) { random in
            MulticastLink(random: SplitMix64(seed: random.next()))
        } event: { link, heard, now, random in
            let id = RegistrationID(rawValue: UInt64(random.integer(in: 1...3)))
            switch random.integer(in: 0...14) {
            case 0, 1: link.ask(question(&random), QuestionID(rawValue: random.next()), at: now)
            case 2, 3:
                link.register(records(&random), id, isKnownUnique: random.chance(oneIn: 4), at: now)
            case 4: link.unregister(id, at: now)
            case 5: link.reconfirm(records(&random)[0], at: now)
            case 6: if random.chance(oneIn: 4) { link.restart(at: now) }
            case 7: if random.chance(oneIn: 8) { link.leave(at: now) }
            case 8: link.neighbourUnresolved(peer(&random), at: now)
            case 9: link.update(id, records(&random), at: now)
            case 10: if random.chance(oneIn: 4) { link.sleep(isRepresented: random.chance(oneIn: 2), at: now) }
            case 11: if random.chance(oneIn: 4) { link.hearsItself.toggle() }
            default: receive(&link, heard, now, &random)
            }
            // Take the actions after each event, before the clock advances, as the driver does.
            return link.takeActions()
        }.noting { heard, action in
            switch action {
            case .send(let bytes), .reply(let bytes, _): heard.append(bytes)
            case .checkNeighbour, .changed, .denied, .established, .conflicted: break
            }
        }
        // Messages take records from hash tables. So the records have a different order in each run, and the random
        // delays differ too.
        .comparing(.none)
    }

    private static func question(_ random: inout SplitMix64) -> DNSQuestion {
        random.chance(oneIn: 4) ? DNSQuestion(service(&random), .any) : DNSQuestion(type, .ptr)
    }

    private static func peer(_ random: inout SplitMix64) -> MulticastPeer {
        MulticastPeer(.ipv4(IPv4Address(bits: 0x0A00_0002)), port: random.chance(oneIn: 4) ? 40_000 : 5_353)
    }

    /// Simulates an arriving message from another host. The message is either a copy of this host's own message, or an
    /// answer of the other host.
    private static func receive(
        _ link: inout MulticastLink, _ heard: [[UInt8]], _ now: Duration, _ random: inout SplitMix64
    ) {
        var writer = DNSMessageWriter(id: 0, [.isResponse, .isAuthoritative], limit: 9_000)
        for record in records(&random) { _ = writer.add(record, to: .answer) }
        let bytes = random.chance(oneIn: 2) ? heard.randomElement(using: &random) : nil
        let message = bytes ?? writer.finish()
        let arrival = MulticastArrival(from: peer(&random), isMulticast: !random.chance(oneIn: 4))
        link.received(message.span, arrival, isSelf: random.chance(oneIn: 5), at: now)
    }

    private static func records(_ random: inout SplitMix64) -> [DNSRecord] {
        let name = service(&random)
        let time: UInt32 = random.chance(oneIn: 4) ? 0 : 120
        return [
            DNSRecord(
                name, .txt, flushesCache: true, timeToLive: time, .text([1, UInt8(random.integer(in: 97...99))])),
            DNSRecord(type, .ptr, timeToLive: time, .name(name)),
        ]
    }
}
