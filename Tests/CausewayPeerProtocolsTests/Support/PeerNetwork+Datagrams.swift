import CausewayPeerProtocols
import CausewayTestKit

/// The simulated UDP packets and DTLS connections of a ``PeerNetwork``.
struct DatagramWire {
    /// The simulated UDP packets and DTLS connections of a ``PeerNetwork``.
    struct End: Hashable {
        let peer: Int
        let lane: DatagramLaneID
    }

    enum Event {
        case listening(End, port: UInt16)
        case handshake(End, port: UInt16, DatagramSecret)
        case arrived(End, [UInt8])
    }

    var isBlocked = false
    /// One datagram in this many is lost; 0: none.
    var lossRatio = 0
    /// Whether the side that connects uses a wrong key. For tests of failed handshakes.
    var hasWrongKeys = false
    private(set) var sentCount = 0
    private(set) var dialCount = 0
    fileprivate var ports: [UInt16: (end: End, secret: DatagramSecret)] = [:]
    fileprivate var pairs: [End: End] = [:]
    fileprivate var lastPort: UInt16 = 40_000

    mutating func close(_ peer: Int, _ lane: DatagramLaneID) {
        let end = End(peer: peer, lane: lane)
        ports = ports.filter { $0.value.end != end }
        pairs[end] = nil
    }

    fileprivate mutating func listen(_ end: End, _ secret: DatagramSecret) -> UInt16 {
        lastPort += 1
        ports[lastPort] = (end, secret)
        return lastPort
    }

    fileprivate mutating func noteDial() { dialCount += 1 }
    fileprivate mutating func noteDatagram() { sentCount += 1 }
}

extension PeerNetwork {
    private func later(_ event: DatagramWire.Event) {
        timed.append((now + .milliseconds(random.integer(in: latency)), .datagram(event)))
    }

    func listen(_ index: Int, _ lane: DatagramLaneID, _ secret: DatagramSecret) {
        let end = DatagramWire.End(peer: index, lane: lane)
        later(.listening(end, port: datagrams.listen(end, secret)))
    }

    func dial(_ index: Int, _ lane: DatagramLaneID, _ port: UInt16, _ secret: DatagramSecret) {
        datagrams.noteDial()
        later(.handshake(.init(peer: index, lane: lane), port: port, secret))
    }

    func carry(_ index: Int, _ lane: DatagramLaneID, _ bytes: [UInt8]) {
        datagrams.noteDatagram()
        peers[index].mesh.datagramSent(lane, bytes.count, at: now)
        let isLost = datagrams.lossRatio > 0 && random.chance(oneIn: datagrams.lossRatio)
        guard let other = datagrams.pairs[.init(peer: index, lane: lane)], isReachable(index, other.peer), !isLost,
            !datagrams.isBlocked
        else { return }
        later(.arrived(other, bytes))
    }

    func handle(_ event: DatagramWire.Event) {
        switch event {
        case .listening(let end, let port):
            call(end.peer) { $0.mesh.datagramsListening(end.lane, on: port, at: now) }
        case .arrived(let end, let bytes): call(end.peer) { $0.mesh.datagramArrived(end.lane, bytes, at: now) }
        case .handshake(let end, let port, let secret): shakeHands(end, port, secret)
        }
    }

    private func shakeHands(_ end: DatagramWire.End, _ port: UInt16, _ secret: DatagramSecret) {
        guard let place = datagrams.ports[port], isReachable(end.peer, place.end.peer), !datagrams.isBlocked else {
            return
        }
        guard place.secret == secret, !datagrams.hasWrongKeys else {
            call(place.end.peer) { $0.mesh.datagramsRefused(place.end.lane, .notVerified, at: now) }
            return call(end.peer) { $0.mesh.datagramsEnded(end.lane, .notVerified, at: now) }
        }
        datagrams.ports[port] = nil
        datagrams.pairs[end] = place.end
        datagrams.pairs[place.end] = end
        for side in [end, place.end] { call(side.peer) { $0.mesh.datagramsReady(side.lane, limit: 1_200, at: now) } }
    }
}
