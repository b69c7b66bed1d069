internal import CausewayBonjourProtocols
internal import CausewayTypes
internal import CausewayWire

extension Exercise {
    /// Runs a bridge between two links with arbitrary records at arbitrary times. Also passes registration events to it
    /// that cannot occur.
    ///
    /// The bridge must send a bounded number of queries and registrations. It must withdraw only its own registrations.
    /// It must not announce a service on the link where it was found.
    ///
    /// - Returns: The number of queries.
    @discardableResult
    public static func linkBridge(_ bytes: [UInt8]) -> Int {
        var choices = Choices(bytes)
        var life = BridgeLife(isBoth: choices.next() & 1 == 0)
        while !choices.isEmpty { life.step(&choices) }
        return life.queryCount
    }
}

private struct BridgeLife: ClockedLife {
    private static let limit = 4
    private var bridge: LinkBridge
    private(set) var queryCount = 0
    var now = Duration.seconds(1)
    private let sources: Set<LinkBridge.Side>
    private var questions: [LinkBridge.Side: Set<DNSQuestion>] = [.near: [], .far: []]
    private var registrations: [LinkBridge.Side: [DNSName: [DNSRecord]]] = [.near: [:], .far: [:]]
    private let type = DNSName(labels: ["_t", "_tcp", "local"].map { Array($0.utf8) }) ?? .root

    init(isBoth: Bool) {
        sources = isBoth ? [.near, .far] : [.far]
        bridge = LinkBridge((try? [DNSServiceType("_t._tcp,_s")]) ?? [], from: sources, serviceLimit: Self.limit)
        bridge.start(at: now)
        perform()
    }

    mutating func step(_ choices: inout Exercise.Choices) {
        let order = choices.next()
        let side: LinkBridge.Side = order & 1 == 0 ? .near : .far
        switch order >> 1 & 3 {
        case 0:
            let records = (0..<Int(order >> 6)).map { _ in record(&choices) }
            let asked = questions[side, default: []].sorted { "\($0)" < "\($1)" }
            let question =
                asked.isEmpty || order & 8 == 0
                ? DNSQuestion(name(&choices), .ptr) : asked[Int(choices.next()) % asked.count]
            if order & 16 == 0 {
                bridge.changed(question, on: side, added: records, removed: [], at: now)
            } else {
                bridge.changed(question, on: side, added: [], removed: records, at: now)
            }
        case 1:
            let service = name(&choices)
            if order & 8 == 0 {
                bridge.established(service, on: side)
            } else if registrations[side]?.removeValue(forKey: service) != nil {
                bridge.conflicted(service, over: order & 16 == 0 ? service : name(&choices), on: side, at: now)
            }
        default: pass(.milliseconds(Int(choices.next()) << Int(order >> 4)))
        }
        perform()
    }

    private func name(_ choices: inout Exercise.Choices) -> DNSName {
        let number = choices.next()
        let label = [number & 7 | 0x60]
        switch number >> 4 & 3 {
        case 0: return DNSName(label, in: .local) ?? .local
        case 1: return LinkBridgeNames.list(number & 8 == 0 ? "_s" : LinkBridge.mark, type)
        case 2 where number & 0x80 == 0: return type
        default: return DNSName(label, in: type) ?? type
        }
    }

    private func record(_ choices: inout Exercise.Choices) -> DNSRecord {
        let (owner, number) = (name(&choices), choices.next())
        let time = UInt32(number) << 8
        switch number & 3 {
        case 0: return DNSRecord(owner, .ptr, timeToLive: time, .name(name(&choices)))
        case 1:
            let data = DNSRecordData.service(priority: 0, weight: 0, port: 1, target: name(&choices))
            return DNSRecord(owner, .srv, flushesCache: true, timeToLive: time, data)
        case 2: return DNSRecord(owner, .txt, flushesCache: true, timeToLive: time, .text([1, number]))
        default:
            let bits = UInt32(choices.next()) << 24 | UInt32(choices.next()) << 16 | 1
            return DNSRecord(owner, .a, flushesCache: true, timeToLive: time, .ipv4(IPv4Address(bits: bits)))
        }
    }

    var nextDeadline: Duration? { bridge.deadline }

    mutating func advance() {
        bridge.advance(to: now)
        perform()
    }

    private mutating func perform() {
        for action in bridge.takeActions() {
            switch action {
            case .ask(let question, let side):
                precondition(questions[side, default: []].insert(question).inserted, "queried twice: \(question)")
                queryCount += 1
            case .stop(let question, let side):
                precondition(
                    questions[side, default: []].remove(question) != nil,
                    "stopped a query that was not started: \(question)")
            case .register(let records, let name, let side):
                precondition(sources.contains(side.other), "registered on the wrong link")
                precondition(
                    registrations[side, default: [:]].updateValue(records, forKey: name) == nil, "registered twice")
                check(records)
            case .update(let records, let name, let side):
                precondition(
                    registrations[side, default: [:]].updateValue(records, forKey: name) != nil,
                    "withdrew an unknown registration")
                check(records)
            case .withdraw(let name, let side):
                precondition(registrations[side]?.removeValue(forKey: name) != nil, "withdrawn twice")
            case .bridged, .ended, .taken: break
            }
        }
        for side in LinkBridge.Side.allCases {
            // The limit allows queries for the type lists and the marks. It also allows two queries for each service,
            // and two for each host.
            precondition(questions[side, default: []].count <= 3 + 4 * Self.limit)
            precondition(registrations[side, default: [:]].count <= Self.limit)
        }
    }

    private func check(_ records: [DNSRecord]) {
        for record in records {
            precondition(record.timeToLive <= MulticastDNS.otherTimeToLive)
            if case .ipv4(let address) = record.data { precondition(!address.isLinkLocal && !address.isMulticast) }
        }
        precondition(
            records.contains { $0.name.firstLabel.map(Array.init) == Array(LinkBridge.mark.utf8) },
            "the marker is missing")
    }
}

private enum LinkBridgeNames {
    static func list(_ subtype: String, _ type: DNSName) -> DNSName {
        DNSName("_sub", in: type).flatMap { DNSName(subtype, in: $0) } ?? type
    }
}
