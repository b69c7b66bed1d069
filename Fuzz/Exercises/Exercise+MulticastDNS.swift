internal import CausewayBonjourProtocols
internal import CausewayTestKit
internal import CausewayTypes
internal import CausewayWire

extension Exercise {
    /// Parses bytes as a DNS message. Encodes a valid message and parses it again. The result must equal the message.
    ///
    /// - Returns: Whether the message was valid and could be encoded.
    @discardableResult
    public static func dnsMessage(_ bytes: [UInt8]) -> Bool {
        guard let message = try? DNSMessage(parsing: bytes.span) else { return false }
        // Record data that is stored as raw bytes may contain compression pointers. At another position in a message,
        // such a pointer refers to other bytes. So skip these messages.
        guard !message.answers.contains(where: \.isBroken) else { return false }
        var writer = DNSMessageWriter(id: message.id, message.flags, limit: 65_535)
        guard message.questions.allSatisfy({ writer.add($0) }),
            message.answers.allSatisfy({ writer.add($0, to: .answer) })
        else { return false }
        guard let again = try? DNSMessage(parsing: writer.finish().span) else {
            preconditionFailure("the encoded message is parsed to another value")
        }
        precondition(again.questions == message.questions && again.answers == message.answers)
        return true
    }

    /// Simulates a multicast DNS link on which any host sends arbitrary messages at arbitrary times. Checks that the
    /// link sends a bounded number of messages, and that its deadlines are in the future.
    ///
    /// - Returns: The number of sent messages.
    @discardableResult
    public static func multicastLink(_ bytes: [UInt8]) -> Int {
        var choices = Choices(bytes)
        var life = LinkLife(seed: choices.next())
        while !choices.isEmpty { life.step(&choices) }
        return life.sentCount
    }
}

private struct LinkLife: ClockedLife {
    private var link: MulticastLink
    private(set) var sentCount = 0
    var now = Duration.seconds(1)
    private let type = DNSName(labels: ["_t", "_tcp", "local"].map { Array($0.utf8) }) ?? .root

    init(seed: UInt8) {
        link = MulticastLink(random: SplitMix64(seed: UInt64(seed)))
        link.ask(DNSQuestion(type, .ptr), QuestionID(rawValue: 1), at: now)
        if let name = DNSName("A", in: type) {
            let record = DNSRecord(name, .txt, flushesCache: true, timeToLive: 4_500, .text([0]))
            link.register([record], RegistrationID(rawValue: 1), at: now)
        }
        _ = link.takeActions()
    }

    mutating func step(_ choices: inout Exercise.Choices) {
        let order = choices.next()
        if order & 1 == 0 {
            hear(choices.take(choices.next(below: 256)), order)
            perform()
        } else {
            pass(.milliseconds((Int(choices.next()) << Int(order >> 4))))
        }
    }

    var nextDeadline: Duration? { link.deadline }

    mutating func advance() {
        link.advance(to: now)
        perform()
    }

    private mutating func perform() {
        var said = 0
        for action in link.takeActions() {
            switch action {
            case .send(let message), .reply(let message, _):
                said += 1
                precondition(message.count <= 9_000 && (try? DNSMessage(parsing: message.span)) != nil)
            case .checkNeighbour(let peer): link.neighbourUnresolved(peer, at: now)
            case .changed, .denied, .established, .conflicted: break
            }
        }
        precondition(said <= 64, "\(said) messages at once")
        sentCount += said
    }

    private mutating func hear(_ bytes: [UInt8], _ order: UInt8) {
        let port: UInt16 = order & 2 == 0 ? MulticastDNS.port : 40_000
        let peer = MulticastPeer(.ipv4(.loopback), port: port)
        let arrival = MulticastArrival(from: peer, isMulticast: order & 4 == 0, isOnLink: order & 8 == 0)
        link.received(bytes.span, arrival, isSelf: order & 16 != 0, at: now)
    }
}

extension DNSRecord {
    /// Whether the record has a known type but content that could not be parsed.
    fileprivate var isBroken: Bool {
        guard case .opaque = data else { return false }
        switch type {
        case .a, .aaaa, .ptr, .cname, .ns, .dname, .srv, .txt, .mx, .soa, .nsec, .svcb, .https: return true
        default: return false
        }
    }
}
