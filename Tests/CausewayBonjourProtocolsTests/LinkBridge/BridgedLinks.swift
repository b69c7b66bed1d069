import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire

/// Two simulated links with a common virtual clock, and bridges between them. On each link, hosts 0 to `bridgeCount -
/// 1` are the bridges.
final class BridgedLinks {
    private struct Bridge {
        var machine: LinkBridge
        var questions: [LinkBridge.Side: [QuestionID: DNSQuestion]] = [:]
        var registrations: [LinkBridge.Side: [RegistrationID: DNSName]] = [:]
        var nextNumber: UInt64 = 1_000
        /// For each link, how many events of the bridge's host the test has already read.
        var read: [LinkBridge.Side: Int] = [:]
        var isUp = true
    }

    let near: VirtualLink
    let far: VirtualLink
    private var bridges: [Bridge]
    /// All actions that each bridge has returned so far.
    private(set) var told: [[LinkBridge.Action]]

    /// - Parameter hostCount: The number of hosts on each link, without the bridges.
    init(
        _ types: [String] = ["_ipp._tcp"], from sources: Set<LinkBridge.Side> = [.far], bridgeCount: Int = 1,
        hostCount: Int = 1, serviceLimit: Int = LinkBridge.serviceLimit
    ) throws {
        let types = try types.map { try DNSServiceType($0) }
        near = VirtualLink(bridgeCount + hostCount)
        far = VirtualLink(bridgeCount + hostCount)
        bridges = (0..<bridgeCount).map { _ in
            Bridge(machine: LinkBridge(types, from: sources, serviceLimit: serviceLimit))
        }
        told = bridges.map { _ in [] }
        for side in LinkBridge.Side.allCases {
            for index in bridges.indices { wire(side).hosts[index].link.hearsItself = false }
        }
        for index in bridges.indices { start(index) }
    }

    func wire(_ side: LinkBridge.Side) -> VirtualLink { side == .near ? near : far }

    var now: Duration { near.now }

    private func start(_ index: Int) {
        bridges[index].machine.start(at: now)
        perform(index)
    }

    /// Simulates the sudden end of a bridge. It sends no goodbye.
    func kill(_ index: Int) {
        bridges[index].isUp = false
        for side in LinkBridge.Side.allCases { wire(side).hosts[index].isConnected = false }
    }

    /// The first host that is not a bridge. The value is an index into the hosts of a link.
    var host: Int { bridges.count }

    func register(_ records: [DNSRecord], _ id: UInt64 = 1, on side: LinkBridge.Side, host: Int? = nil) {
        let wire = wire(side)
        wire.hosts[host ?? self.host].link.register(records, RegistrationID(rawValue: id), at: wire.now)
        settle()
    }

    func unregister(_ id: UInt64 = 1, on side: LinkBridge.Side, host: Int? = nil) {
        let wire = wire(side)
        wire.hosts[host ?? self.host].link.unregister(RegistrationID(rawValue: id), at: wire.now)
        settle()
    }

    /// Starts a query on a link, from a host that is not a bridge.
    func ask(_ name: DNSName, _ type: DNSRecordType = .ptr, _ id: UInt64 = 1, on side: LinkBridge.Side = .near) {
        let wire = wire(side)
        wire.hosts[host].link.ask(DNSQuestion(name, type), QuestionID(rawValue: id), at: wire.now)
        settle()
    }

    func known(_ id: UInt64 = 1, on side: LinkBridge.Side = .near) -> Set<DNSRecordData> {
        Set(wire(side).known(id, to: host).map(\.data))
    }

    func run(for duration: Duration) {
        let end = now + duration
        settle()
        while let next = nextDeadline, next <= end {
            let step = max(next - now, .zero)
            near.run(for: step)
            far.run(for: step)
            for index in bridges.indices where bridges[index].isUp { bridges[index].machine.advance(to: now) }
            settle()
        }
        near.run(for: end - near.now)
        far.run(for: end - far.now)
        settle()
    }

    private var nextDeadline: Duration? {
        let links = (near.hosts + far.hosts).filter(\.isConnected).compactMap(\.link.deadline)
        return (links + bridges.filter(\.isUp).compactMap(\.machine.deadline)).min()
    }

    private func settle() {
        var isBusy = true
        while isBusy {
            near.settle()
            far.settle()
            isBusy = false
            for index in bridges.indices where bridges[index].isUp {
                for side in LinkBridge.Side.allCases { isBusy = report(index, side) || isBusy }
                isBusy = perform(index) || isBusy
            }
        }
    }

    /// Passes the results of queries and registrations on one link to a bridge. Returns whether there were any.
    private func report(_ index: Int, _ side: LinkBridge.Side) -> Bool {
        let events = wire(side).hosts[index].events.dropFirst(bridges[index].read[side] ?? 0)
        bridges[index].read[side] = wire(side).hosts[index].events.count
        for event in events {
            switch event {
            case .changed(let id, let added, let removed):
                guard let question = bridges[index].questions[side]?[id] else { continue }
                bridges[index].machine.changed(question, on: side, added: added, removed: removed, at: now)
            case .established(let id):
                guard let name = bridges[index].registrations[side]?[id] else { continue }
                bridges[index].machine.established(name, on: side)
            case .conflicted(let id, let lost):
                guard let name = bridges[index].registrations[side]?.removeValue(forKey: id) else { continue }
                wire(side).hosts[index].link.unregister(id, at: now)
                bridges[index].machine.conflicted(name, over: lost, on: side, at: now)
            case .send, .reply, .checkNeighbour, .denied: break
            }
        }
        return !events.isEmpty
    }

    @discardableResult
    private func perform(_ index: Int) -> Bool {
        let actions = bridges[index].machine.takeActions()
        for action in actions {
            bridges[index].nextNumber += 1
            let number = bridges[index].nextNumber
            switch action {
            case .ask(let question, let side):
                bridges[index].questions[side, default: [:]][QuestionID(rawValue: number)] = question
                wire(side).hosts[index].link.ask(question, QuestionID(rawValue: number), at: now)
            case .stop(let question, let side):
                for (id, asked) in bridges[index].questions[side] ?? [:] where asked == question {
                    bridges[index].questions[side]?[id] = nil
                    wire(side).hosts[index].link.stop(id)
                }
            case .register(let records, let name, let side):
                bridges[index].registrations[side, default: [:]][RegistrationID(rawValue: number)] = name
                wire(side).hosts[index].link.register(records, RegistrationID(rawValue: number), at: now)
            case .update(let records, let name, let side):
                for (id, known) in bridges[index].registrations[side] ?? [:] where known == name {
                    wire(side).hosts[index].link.update(id, records, at: now)
                }
            case .withdraw(let name, let side):
                for (id, known) in bridges[index].registrations[side] ?? [:] where known == name {
                    bridges[index].registrations[side]?[id] = nil
                    wire(side).hosts[index].link.unregister(id, at: now)
                }
            case .bridged, .ended, .taken: told[index].append(action)
            }
        }
        return !actions.isEmpty
    }
}
