import CausewayBonjourProtocols
import CausewayTypes
import CausewayWire

/// Hosts on one link under a virtual clock: each packet reaches all hosts including the sender, unless the link loses it.
final class VirtualLink {
    struct Host {
        var link: MulticastLink
        var peer: MulticastPeer
        /// The host's other address: IPv6 if `peer` has IPv4, or IPv4 if `peer` has IPv6.
        var otherPeer: MulticastPeer
        var events: [MulticastAction] = []
        var isConnected = true

        func isMeant(by receiver: MulticastPeer?) -> Bool {
            receiver.map { $0 == peer || $0 == otherPeer } ?? true
        }
    }

    struct Packet {
        var time: Duration
        var sender: Int
        var message: DNSMessage
        var byteCount: Int
        /// The receiver; `nil` for multicast.
        var receiver: MulticastPeer?
    }

    private(set) var now: Duration = .zero
    var hosts: [Host]
    private(set) var packets: [Packet] = []
    /// The number of copies of each packet that its sender receives itself: one for each address family that it uses.
    var copies = 1
    /// Decides whether a packet reaches a host. The arguments are the number of the packet and the number of the host.
    /// Called once per address family.
    var delivers: (Int, Int) -> Bool = { _, _ in true }
    /// The number of address families over which each multicast packet is sent. It is enough for a receiver if one of
    /// these copies arrives.
    var familyCount = 1

    /// Whether hosts resolve link-layer addresses, as on Linux. If `true`, a unicast packet waits until the receiver's
    /// link-layer address is known.
    ///
    /// The sender broadcasts up to three requests, one second apart. The link may lose each request and each reply.
    var resolvesNeighbours = false
    /// The neighbour table of each host.
    private var neighbours: [Route: Neighbour] = [:]

    private struct Route: Hashable {
        var sender: Int
        var peer: MulticastPeer
    }

    private enum Neighbour {
        case resolved
        case resolving(attempts: Int, retry: Duration, waiting: [[UInt8]])

        var retry: Duration? {
            if case .resolving(_, let retry, _) = self { retry } else { nil }
        }
    }

    init(_ count: Int) {
        hosts = (0..<count).map { number in
            let address = IPv4Address(bits: 0x0A00_0001 + UInt32(number))
            return Host(
                link: MulticastLink(random: Chance(state: UInt64(number))),
                peer: MulticastPeer(.ipv4(address), port: MulticastDNS.port),
                otherPeer: MulticastPeer(
                    .ipv6(IPv6Address(high: 0xFE80 << 48, low: UInt64(number + 1))), port: MulticastDNS.port))
        }
    }

    /// Creates a link with one host, and runs it for 30 seconds. After that, the host's records are established.
    static func settled(_ records: [DNSRecord] = Printer.records() + Printer.address()) -> VirtualLink {
        let wire = VirtualLink(1)
        wire.hosts[0].link.register(records, Printer.id, at: wire.now)
        wire.run(for: .seconds(30))
        return wire
    }

    /// Advances the clock by `duration`, and processes all events that become due.
    func run(for duration: Duration) {
        let end = now + duration
        settle()
        while let next = (hosts.map(\.link.deadline) + neighbours.values.map(\.retry)).compactMap({ $0 }).min(),
            next <= end
        {
            now = max(now, next)
            for (route, neighbour) in neighbours where neighbour.retry.map({ $0 <= now }) ?? false { resolve(route) }
            for index in hosts.indices { hosts[index].link.advance(to: now) }
            settle()
        }
        now = end
    }

    /// Moves the clock to `time` in one step. All events that were due before then happen at `time`.
    func skip(to time: Duration) {
        now = max(now, time)
        for index in hosts.indices { hosts[index].link.advance(to: now) }
        settle()
    }

    /// Performs the actions that the hosts request, until no host requests any more.
    func settle() {
        var isBusy = true
        while isBusy {
            isBusy = false
            for index in hosts.indices {
                for action in hosts[index].link.takeActions() {
                    isBusy = true
                    perform(action, of: index)
                }
            }
        }
    }

    private func perform(_ action: MulticastAction, of sender: Int) {
        switch action {
        case .send(let bytes): deliver(bytes, from: sender, to: nil)
        case .reply(let bytes, let peer): reply(bytes, over: Route(sender: sender, peer: peer))
        case .checkNeighbour(let peer):
            guard resolvesNeighbours, neighbours[Route(sender: sender, peer: peer)]?.retry != nil else { return }
            hosts[sender].link.neighbourUnresolved(peer, at: now)
        case .changed, .denied, .established, .conflicted: hosts[sender].events.append(action)
        }
    }

    // MARK: Neighbours

    private func reply(_ bytes: [UInt8], over route: Route) {
        guard resolvesNeighbours else { return deliver(bytes, from: route.sender, to: route.peer) }
        switch neighbours[route] {
        case .resolved: deliver(bytes, from: route.sender, to: route.peer)
        case .resolving(let attempts, let retry, let waiting):
            neighbours[route] = .resolving(attempts: attempts, retry: retry, waiting: waiting + [bytes])
        case nil:
            neighbours[route] = .resolving(attempts: 0, retry: now, waiting: [bytes])
            resolve(route)
        }
    }

    private func resolve(_ route: Route) {
        guard case .resolving(let attempts, _, let waiting) = neighbours[route],
            let receiver = hosts.firstIndex(where: { $0.isMeant(by: route.peer) })
        else { return neighbours[route] = nil }
        if delivers(packets.count, receiver), delivers(packets.count, route.sender) {
            neighbours[route] = .resolved
            for bytes in waiting { deliver(bytes, from: route.sender, to: route.peer) }
        } else if attempts == 2 {
            neighbours[route] = nil
        } else {
            neighbours[route] = .resolving(attempts: attempts + 1, retry: now + .seconds(1), waiting: waiting)
        }
    }

    /// Removes the link-layer addresses from the tables of all hosts, as the kernel does after some time without packets.
    func forgetNeighbours() { neighbours = [:] }

    private func deliver(_ bytes: [UInt8], from sender: Int, to peer: MulticastPeer?) {
        guard hosts[sender].isConnected else { return }
        guard let message = try? DNSMessage(parsing: bytes.span) else { return }
        let number = packets.count
        packets.append(
            Packet(time: now, sender: sender, message: message, byteCount: bytes.count, receiver: peer))
        for index in hosts.indices where hosts[index].isConnected && hosts[index].isMeant(by: peer) {
            let ways = peer == nil ? familyCount : 1
            let arrived = (0..<ways).filter { _ in delivers(number, index) }
            guard !arrived.isEmpty else { continue }
            let isSelf = sender == index
            for way in isSelf ? [Int](repeating: 0, count: copies) : arrived {
                let isOther = peer == nil ? way == 1 : peer == hosts[index].otherPeer
                let source = isOther ? hosts[sender].otherPeer : hosts[sender].peer
                receive(bytes, MulticastArrival(from: source, isMulticast: peer == nil), isSelf: isSelf, by: index)
            }
        }
    }

    /// Sends a message of a peer that is not a host of this link.
    func inject(_ message: DNSMessage, from peer: MulticastPeer? = nil, isMulticast: Bool = true, isOnLink: Bool = true)
    {
        let peer = peer ?? MulticastPeer(.ipv4(IPv4Address("10.0.0.200")!), port: MulticastDNS.port)
        let bytes = message.encoded()
        for index in hosts.indices {
            let arrival = MulticastArrival(from: peer, isMulticast: isMulticast, isOnLink: isOnLink)
            receive(bytes, arrival, by: index)
        }
        settle()
    }

    /// Passes a message to a host only if the host's link needs it, as the real drivers do. So every test also checks
    /// that the link can skip all other messages.
    private func receive(_ bytes: [UInt8], _ arrival: MulticastArrival, isSelf: Bool = false, by host: Int) {
        let interest = hosts[host].link.interest(in: bytes.span, arrival, isSelf: isSelf, at: now)
        if interest != .none { hosts[host].link.received(bytes.span, arrival, isSelf: isSelf, at: now) }
    }

    // MARK: Records

    func sent(by host: Int, _ isWanted: (DNSMessage) -> Bool = { _ in true }) -> [Packet] {
        packets.filter { $0.sender == host && isWanted($0.message) }
    }

    /// Returns the records that a host now knows as answers to a query.
    func known(_ id: UInt64, to host: Int) -> Set<DNSRecord> {
        var known: Set<DNSRecord> = []
        for case .changed(QuestionID(rawValue: id), let added, let removed) in hosts[host].events {
            known.formUnion(added)
            guard !removed.isEmpty else { continue }
            known = known.filter { record in !removed.contains { $0.name == record.name && $0.data == record.data } }
        }
        return known
    }
}

extension DNSMessage {
    static func query(_ questions: DNSQuestion..., known: [DNSRecord] = []) -> DNSMessage {
        var message = DNSMessage()
        message.questions = questions
        message.answers = known
        return message
    }

    static func probe(_ name: DNSName, _ proposal: DNSRecord, acceptsUnicast: Bool = false) -> DNSMessage {
        var message = query(DNSQuestion(name, .any, acceptsUnicast: acceptsUnicast))
        var proposal = proposal
        proposal.flushesCache = false
        message.authorities = [proposal]
        return message
    }
}

/// A random number generator for tests that starts from a fixed seed.
struct Chance: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// The DNS records of a printer service.
enum Printer {
    static let type: DNSName = "_ipp._tcp.local"
    static let instance = DNSName("Printer", in: type)!
    static let id = RegistrationID(rawValue: 1)

    static func records(_ name: String = "Printer", host: String = "alpha", port: UInt16 = 631, text: [UInt8] = [0])
        -> [DNSRecord]
    {
        let instance = DNSName(name, in: type)!
        return [
            DNSRecord(type, .ptr, timeToLive: 4_500, .name(instance)),
            DNSRecord(
                instance, .srv, flushesCache: true, timeToLive: 120,
                .service(priority: 0, weight: 0, port: port, target: DNSName(host, in: "local")!)),
            DNSRecord(instance, .txt, flushesCache: true, timeToLive: 4_500, .text(text)),
        ]
    }

    static func address(_ host: String = "alpha", _ address: String = "10.0.0.1") -> [DNSRecord] {
        [
            DNSRecord(
                DNSName(host, in: "local")!, .a, flushesCache: true, timeToLive: 120, .ipv4(IPv4Address(address)!))
        ]
    }
}
