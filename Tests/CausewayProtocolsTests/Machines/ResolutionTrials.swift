import CausewayProtocols
import CausewayTestKit
import CausewayTypes
import CausewayWire

/// Random tests of the state machines for name lookups and DNS queries.
enum ResolutionTrials {
    static var all: [any MachineTesting] { [lookup, client] }

    private static let names: [DNSName] = ["www.example.com", "a.example", "host.local"]

    private static var lookup: any MachineTesting {
        MachineTrial("NameLookup", model: [(DNSName, DNSRecordType)]()) { random in
            let resolv = ["", "search example.com example.org\noptions ndots:3", "options single-request"]
            var context = ResolverEnvironment()
            context.configuration = ResolverConfiguration(parsing: resolv[random.integer(in: 0...2)])
            context.hosts = HostsFile(parsing: "192.0.2.7 www.hosts.example\n")
            let name = ["www.example.com", "www", "host.local", "localhost", "..", "www.hosts.example"]
            return NameLookup(name[random.integer(in: 0...5)], families: [.ipv4, .ipv6], in: context)
        } event: { lookup, questions, _, random in
            if questions.isEmpty { return lookup.begin() }
            if random.chance(oneIn: 8) { return lookup.linkAnswered(random.chance(oneIn: 2) ? [] : [address]) }
            let (name, type) = questions.randomElement(using: &random) ?? (names[0], .a)
            var answer = DNSAnswer(.noSuchName, for: name)
            switch random.integer(in: 0...3) {
            case 0: answer = DNSAnswer(.records([DNSRig.a(name, 1), DNSRig.aaaa(name, 1)]), for: name)
            case 1: answer = DNSAnswer(.failed(.timedOut), for: name)
            default: break
            }
            return lookup.answered(
                name, type, with: answer, from: random.chance(oneIn: 4) ? .expiredCache : .query(.udp))
        }.noting { questions, action in
            switch action {
            case .ask(let name, let type): questions.append((name, type))
            case .askLink(let name): questions.append((name, .a))
            case .found, .settled, .end: break
            }
        }.ending {
            if case .end = $0 { true } else { false }
        }.untimed()
    }

    private static let address = InternetAddress.ipv4(IPv4Address(bits: 0xC000_0209))

    private struct Sent: Sendable {
        var questions: [DNSClient.QuestionID] = []
        var messages: [(exchange: DNSClient.ExchangeID, bytes: [UInt8])] = []
    }

    private static var client: any MachineTesting {
        MachineTrial("DNSClient", model: Sent()) { random in
            DNSClient([DNSRig.first, DNSRig.second], random: SplitMix64(seed: random.next()))
        } event: { client, sent, now, random in
            switch random.integer(in: 0...7) {
            case 0, 1, 2:
                let (id, actions) = client.ask(
                    names[random.integer(in: 0...2)], random.chance(oneIn: 2) ? .a : .aaaa,
                    in: random.chance(oneIn: 4) ? 1 : 0, at: now)
                sent.questions.append(id)
                return actions
            case 3:
                return client.cancel(sent.questions.randomElement(using: &random) ?? 9, at: now)
            case 4:
                return client.failed(
                    sent.messages.randomElement(using: &random)?.exchange ?? 9,
                    because: random.chance(oneIn: 2) ? .connectionRefused : .unreachable, at: now)
            case 5:
                client.use(random.chance(oneIn: 2) ? [DNSRig.first, DNSRig.second] : [DNSRig.second], .init())
                return []
            default:
                guard let message = sent.messages.randomElement(using: &random) else { return [] }
                return client.received(response(to: message.bytes, &random), for: message.exchange, at: now)
            }
        }.noting { sent, action in
            if case .send(let exchange, let bytes, _, _, _) = action { sent.messages.append((exchange, bytes)) }
        }
    }

    private static func response(to query: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        guard let name = (try? DNSRig.message(query))?.questions.first?.name else { return [] }
        switch random.integer(in: 0...5) {
        case 0: return random.bytes(random.integer(in: 0...60))
        case 1: return DNSRig.response(to: query, .serverFailure)
        case 2: return DNSRig.response(to: query) { $0.flags.insert(.isTruncated) }
        case 3: return DNSRig.response(to: query, answers: [DNSRig.alias(name, names[random.integer(in: 0...2)])])
        default: return DNSRig.response(to: query, answers: [DNSRig.a(name, 1), DNSRig.aaaa(name, 1)])
        }
    }
}
