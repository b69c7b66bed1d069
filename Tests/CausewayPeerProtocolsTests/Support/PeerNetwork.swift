import CausewayPeerProtocols
import CausewayTestKit

/// A simulated network of mesh state machines. Simulated TLS connections with a virtual clock connect them, so nothing
/// sleeps.
final class PeerNetwork {
    /// One direction of a simulated connection, with the bytes in flight in order.
    struct Pipe {
        var inFlight: [(arrival: Duration, bytes: [UInt8])] = []
    }

    final class Wire {
        let ends: [(peer: Int, link: LinkID)]
        var pipes = [Pipe(), Pipe()]
        var isOpen = [true, true]
        /// Whether the pipe has lost bytes. After a loss, it delivers no more bytes.
        var isBroken = false

        init(_ dialler: (peer: Int, link: LinkID), _ accepter: (peer: Int, link: LinkID)) {
            ends = [dialler, accepter]
        }
    }

    enum Timed {
        case dial(Int, LinkID, PeerDial)
        case ended(Int, LinkID, LinkEnd)
        case datagram(DatagramWire.Event)
    }

    private(set) var now: Duration = .zero
    let peers: [SimulatedPeer]
    var random: SplitMix64
    private var wires: [Wire] = []
    var timed: [(time: Duration, event: Timed)] = []
    /// For each peer, the number of the network part to which the peer belongs.
    var parts: [Int]
    /// The failure rate of dials: one in this many dials fails.
    var dialLoss = 0
    /// The number of bytes for each call of `takeOutput`.
    var pieceSize = 64 << 10
    var latency: ClosedRange<Int> = 1...5
    private(set) var byteCount = 0
    var datagrams = DatagramWire()

    init(
        _ count: Int, seed: UInt64, limit: Int = 32, options: SessionOptions = SessionOptions(),
        features: Hello.Features = .current
    ) {
        var options = options
        options.limit = limit
        var configuration = PeerConfiguration()
        configuration.features = features
        peers = (0..<count).map {
            SimulatedPeer(index: $0, seed: seed, options: options, configuration: configuration)
        }
        random = SplitMix64(seed: seed ^ 0xC0FFEE)
        parts = [Int](repeating: 0, count: count)
    }

    func isReachable(_ one: Int, _ other: Int) -> Bool {
        parts[one] == parts[other] && !peers[one].isOff && !peers[other].isOff
    }

    /// Calls `body` with a simulated peer, then performs the actions that its state machine requests.
    func call<Result>(_ index: Int, _ body: (SimulatedPeer) -> Result) -> Result {
        let result = body(peers[index])
        settle(index)
        return result
    }

    func invite(_ one: Int, _ other: Int, timeout: Duration = .seconds(30)) {
        call(one) { $0.mesh.invite($0.member(peers[other]), name: "", context: [1], timeout: timeout, at: now) }
    }

    private func settle(_ index: Int) {
        while let action = peers[index].mesh.nextAction() {
            switch action {
            case .dial(let link, let dial):
                timed.append((now + .milliseconds(random.integer(in: latency)), .dial(index, link, dial)))
            case .output(let link): pump(index, link)
            case .close(let link): closed(index, link)
            case .listenDatagrams(let lane, _, let secret): listen(index, lane, secret)
            case .dialDatagrams(let lane, _, let port, let secret): dial(index, lane, port, secret)
            case .datagram(let lane, let bytes): carry(index, lane, bytes)
            case .closeDatagrams(let lane): datagrams.close(index, lane)
            default: peers[index].note(action, at: now)
            }
        }
    }

    private func find(_ index: Int, _ link: LinkID) -> (wire: Wire, side: Int)? {
        for wire in wires {
            if let side = wire.ends.firstIndex(where: { $0 == (index, link) }) { return (wire, side) }
        }
        return nil
    }

    private func pump(_ index: Int, _ link: LinkID) {
        guard let (wire, side) = find(index, link) else { return }
        while let bytes = peers[index].mesh.takeOutput(link, atMost: pieceSize, at: now) {
            byteCount += bytes.count
            let last = wire.pipes[side].inFlight.last?.arrival ?? .zero
            let arrival = max(last, now + .milliseconds(random.integer(in: latency)))
            if wire.isOpen[1 - side], !wire.isBroken { wire.pipes[side].inFlight.append((arrival, bytes)) }
        }
    }

    private func closed(_ index: Int, _ link: LinkID) {
        guard let (wire, side) = find(index, link) else {
            // The link has no connection yet, because its connection attempt is still running. So cancel the attempt.
            timed.removeAll { if case .dial(index, link, _) = $0.event { true } else { false } }
            return
        }
        wire.isOpen[side] = false
        let other = wire.ends[1 - side]
        guard wire.isOpen[1 - side] else { return }
        // Deliver the end of the connection after all bytes in flight.
        let last = wire.pipes[side].inFlight.last?.arrival ?? now
        timed.append((max(last, now) + .milliseconds(1), .ended(other.peer, other.link, .closedByPeer)))
    }

    /// Breaks a random connection. The bytes in transit are lost, and both sides notice the break.
    func breakRandomWire() {
        guard let wire = wires.filter({ $0.isOpen == [true, true] }).randomElement(using: &random) else { return }
        cut(wire, random.chance(oneIn: 2) ? .failed : .closedByPeer)
    }

    func breakWires(_ how: LinkEnd) { for wire in wires where wire.isOpen == [true, true] { cut(wire, how) } }

    private func cut(_ wire: Wire, _ how: LinkEnd) {
        wire.pipes = [Pipe(), Pipe()]
        wire.isBroken = true
        for end in wire.ends {
            timed.append((now + .milliseconds(random.integer(in: 0...3)), .ended(end.peer, end.link, how)))
        }
    }

    // Functions for the virtual time

    private var nextTime: Duration? {
        var times = timed.map(\.time)
        for wire in wires where isReachable(wire.ends[0].peer, wire.ends[1].peer) {
            times += wire.pipes.compactMap { $0.inFlight.first?.arrival }
        }
        times += peers.filter { !$0.isOff }.compactMap { $0.mesh.deadline }
        return times.min()
    }

    /// Advances the time from event to event. Stops early when the condition holds.
    @discardableResult
    func run(_ time: Duration, until isDone: () -> Bool = { false }) -> Bool {
        let end = now + time
        while !isDone() {
            guard let next = nextTime, next <= end else {
                now = end
                return isDone()
            }
            now = max(now, next)
            step()
        }
        return true
    }

    private func step() {
        for index in peers.indices where !peers[index].isOff {
            guard let deadline = peers[index].mesh.deadline, deadline <= now else { continue }
            call(index) { $0.mesh.advance(to: now) }
            // A deadline in the past would keep the virtual clock from advancing.
            let isSet = peers[index].mesh.deadline.map { $0 > now } ?? true
            precondition(isSet, "seed \(peers[index].seed), peer \(index): a deadline stays in the past")
        }
        let due = timed.filter { $0.time <= now }
        timed.removeAll { $0.time <= now }
        for (_, event) in due { handle(event) }
        for wire in wires { deliver(wire) }
        wires.removeAll { $0.isOpen == [false, false] }
    }

    private func deliver(_ wire: Wire) {
        for side in 0...1 {
            while isReachable(wire.ends[0].peer, wire.ends[1].peer), let first = wire.pipes[side].inFlight.first,
                first.arrival <= now
            {
                wire.pipes[side].inFlight.removeFirst()
                guard wire.isOpen[1 - side] else { continue }
                let end = wire.ends[1 - side]
                call(end.peer) { $0.mesh.received(end.link, first.bytes, at: now) }
            }
        }
    }

    private func handle(_ event: Timed) {
        switch event {
        case .dial(let index, let link, let dial): connect(index, link, dial)
        case .datagram(let event): handle(event)
        case .ended(let index, let link, let how):
            guard let (wire, side) = find(index, link), wire.isOpen[side], !peers[index].isOff else { return }
            // Bytes that arrived before the end of the link are delivered first.
            wire.isOpen[side] = false
            call(index) { $0.mesh.linkEnded(link, how, at: now) }
        }
    }

    private func connect(_ index: Int, _ link: LinkID, _ dial: PeerDial) {
        let target = peers.first { $0.key == dial.peer }
        let isLost = dialLoss > 0 && random.chance(oneIn: dialLoss)
        guard let target, isReachable(index, target.index), !isLost else {
            return call(index) { $0.mesh.dialFailed(link, at: now) }
        }
        let exporter = random.bytes(32)
        let facts = LinkFacts(
            exporter: exporter, fingerprint: peers[index].key.digestBytes, address: [10, 0, 0, UInt8(index)])
        guard let accepted = call(target.index, { $0.mesh.accepted(facts, at: now) }) else {
            return call(index) { $0.mesh.dialFailed(link, at: now) }
        }
        wires.append(Wire((index, link), (target.index, accepted)))
        let remote = LinkFacts(
            exporter: exporter, fingerprint: target.key.digestBytes, address: [10, 0, 0, UInt8(target.index)])
        call(index) { $0.mesh.dialSucceeded(link, remote, at: now) }
    }
}
