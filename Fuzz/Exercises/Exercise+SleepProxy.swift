internal import CausewayBonjourProtocols
internal import CausewayTestKit
internal import CausewayTypes
internal import CausewayWire

extension Exercise {
    /// Runs a sleep proxy client with arbitrary messages as its input. The client must send a limited number of
    /// messages, and must send no query twice. It must also end exactly once.
    ///
    /// - Returns: The number of queries and sent registrations.
    @discardableResult
    public static func sleepProxyClient(_ bytes: [UInt8]) -> Int {
        for start in bytes.indices.prefix(8) {
            let value = Array(bytes[start...].prefix(24))
            for code in [DNSOwner.optionCode, DNSLease.optionCode] {
                let option = DNSExtensions.Option(code: code, value: value)
                if let owner = DNSOwner(option) { precondition(DNSOwner(owner.option) == owner) }
                _ = DNSLease.seconds(option)
            }
        }
        var choices = Choices(bytes)
        var life = ProxyLife(seed: choices.next())
        while !choices.isEmpty { life.step(&choices) }
        return life.askedCount
    }
}

private struct ProxyLife {
    private var client: SleepProxyClient
    private(set) var askedCount = 0
    private var now = Duration.seconds(1)
    private var questions: Set<DNSQuestion> = []
    private var isAsleep = false
    private let peer = MulticastPeer(.ipv4(IPv4Address(bits: 0x0A00_0001)), port: 9)

    init(seed: UInt8) {
        client = SleepProxyClient(random: SplitMix64(seed: UInt64(seed)))
        client.start()
        perform()
    }

    mutating func step(_ choices: inout Exercise.Choices) {
        let order = choices.next()
        switch order & 3 {
        case 0: learn(order, &choices)
        case 1:
            if order & 4 == 0 {
                isAsleep = true
                let record = DNSRecord(.local, .txt, timeToLive: 9, .text([0]))
                let owner = DNSOwner(sequence: order, primary: LinkAddress(bits: 1))
                client.sleep(.init([record], of: owner), at: now)
            } else {
                isAsleep = false
                client.wake()
            }
        case 2:
            var message = choices.take(choices.next(below: 64))
            // For some inputs, use the header of a plausible message, which is a reply to a DNS update.
            if order & 4 == 0 {
                message = [choices.next(), choices.next(), 0xA8, order >> 4] + [UInt8](repeating: 0, count: 8)
            }
            client.received(message.span, from: order & 8 == 0 ? peer : MulticastPeer(peer.address, port: 8), at: now)
        default:
            now += .milliseconds(Int(choices.next()))
            client.advance(to: now)
        }
        perform()
    }

    private mutating func learn(_ order: UInt8, _ choices: inout Exercise.Choices) {
        let host = DNSName([order >> 4 | 0x60], in: .local) ?? .local
        let name = DNSName("1\(order >> 7)-00-00-0\(order >> 4 & 7).0", in: SleepProxyClient.type) ?? host
        let record: DNSRecord
        switch choices.next() & 3 {
        case 0: record = DNSRecord(SleepProxyClient.type, .ptr, timeToLive: 9, .name(name))
        case 1:
            let data = DNSRecordData.service(priority: 0, weight: 0, port: 9, target: host)
            record = DNSRecord(name, .srv, timeToLive: 9, data)
        default: record = DNSRecord(host, .a, timeToLive: 9, .ipv4(IPv4Address(bits: 0x0A00_0001)))
        }
        let question = DNSQuestion(record.name, record.type)
        client.changed(question, added: order & 8 == 0 ? [record] : [], removed: order & 8 == 0 ? [] : [record])
    }

    private mutating func perform() {
        var (sent, ends) = (0, 0)
        for action in client.takeActions() {
            switch action {
            case .ask(let question):
                precondition(questions.insert(question).inserted, "queried twice: \(question)")
                askedCount += 1
            case .stop(let question):
                precondition(questions.remove(question) != nil, "stopped a query that was not started: \(question)")
            case .send(let bytes, _):
                sent += 1
                precondition((try? DNSMessage(parsing: bytes.span)) != nil)
            case .registered, .failed:
                ends += 1
                precondition(isAsleep, "a result without a registration")
            }
        }
        askedCount += sent
        precondition(sent <= 1 && ends <= 1 && questions.count <= 1 + 16 + 32)
    }
}
