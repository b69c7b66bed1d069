import CausewayPeerActors
import CausewayPeers
import Synchronization

/// A simulated session without a network. It passes each frame to the receiver at once.
final class FakeNetwork: Sendable {
    typealias Handler = @Sendable (PeerActorTransportEvent) -> Void

    struct NotConnected: Error {}

    private struct State {
        var members: [PeerIdentity] = []
        var handlers: [PeerIdentity: Handler] = [:]
        var drops = false
        var sent: [PeerIdentity: Int] = [:]
    }

    private let state = Mutex(State())

    static func peer(_ number: UInt64) -> PeerIdentity {
        PeerIdentity(id: number, fingerprint: [UInt8](repeating: UInt8(number), count: 16), name: "P\(number)")
    }

    /// Drops all frames from now on. This simulates a peer that does not answer; real sessions do not lose frames.
    func dropFrames() { state.withLock { $0.drops = true } }

    func sentCount(to peer: PeerIdentity) -> Int { state.withLock { $0.sent[peer] ?? 0 } }

    func join(_ peer: PeerIdentity) {
        let others = state.withLock { state in
            state.members.append(peer)
            return state.members.filter { $0 != peer }
        }
        for other in others {
            handler(of: other)?(.joined(peer))
            handler(of: peer)?(.joined(other))
        }
    }

    func leave(_ peer: PeerIdentity) {
        let others = state.withLock { state in
            state.members.removeAll { $0 == peer }
            return state.members
        }
        for other in others {
            handler(of: other)?(.left(peer, reason: "the peer left the session"))
            handler(of: peer)?(.left(other, reason: "the peer left the session"))
        }
    }

    /// Delivers a message to `receiver`, as if `sender` had sent it.
    func inject(_ bytes: [UInt8], from sender: PeerIdentity, to receiver: PeerIdentity) {
        handler(of: receiver)?(.frame(bytes, from: sender))
    }

    fileprivate func members(of peer: PeerIdentity) -> [PeerIdentity] {
        state.withLock { $0.members.contains(peer) ? $0.members.filter { $0 != peer } : [] }
    }

    func setHandler(_ handler: Handler?, of peer: PeerIdentity) { state.withLock { $0.handlers[peer] = handler } }

    func isAttached(_ peer: PeerIdentity) -> Bool { handler(of: peer) != nil }

    private func handler(of peer: PeerIdentity) -> Handler? { state.withLock { $0.handlers[peer] } }

    fileprivate func send(_ frame: [UInt8], from sender: PeerIdentity, to receiver: PeerIdentity) throws {
        let drops = try state.withLock { state in
            guard state.members.contains(sender), state.members.contains(receiver) else { throw NotConnected() }
            state.sent[receiver, default: 0] += 1
            return state.drops
        }
        if !drops { inject(frame, from: sender, to: receiver) }
    }
}

struct FakeTransport: PeerActorTransport {
    let network: FakeNetwork
    let me: PeerIdentity

    var members: [PeerIdentity] { network.members(of: me) }
    func attach(_ handler: @escaping @Sendable (PeerActorTransportEvent) -> Void) {
        network.setHandler(handler, of: me)
    }
    func detach() { network.setHandler(nil, of: me) }
    func send(_ frame: [UInt8], to peer: PeerIdentity) async throws { try network.send(frame, from: me, to: peer) }
}

/// A clock that only the test advances.
final class FakeClock: PeerActorClock, Sendable {
    private struct State {
        var now: Duration = .zero
        var wakes: [(Duration, @Sendable () -> Void)] = []
    }

    private let state = Mutex(State())

    var now: Duration { state.withLock { $0.now } }

    func wake(at time: Duration, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.wakes.append((time, body)) }
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let now = state.now
            defer { state.wakes.removeAll { $0.0 <= now } }
            return state.wakes.filter { $0.0 <= now }.map(\.1)
        }
        for body in due { body() }
    }
}
