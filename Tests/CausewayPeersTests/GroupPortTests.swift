import CausewayPeerProtocols
import Dispatch
import Synchronization
import Testing

@testable import CausewayPeers

@Suite("Events of a group")
struct GroupPortTests {
    private static func peer(_ name: String) -> PeerIdentity { PeerIdentity(id: 1, fingerprint: [], name: name) }

    @Test("Events from before the program left are dropped, also those that are posted later; departures are delivered")
    func leaves() {
        let queue = DispatchQueue(label: "port")
        let seen = Mutex<[String]>([])
        let port = GroupPort(PeerGroup.Settings(), queue) { event in
            switch event {
            case .connecting(let peer), .notConnected(let peer, _): seen.withLock { $0.append(peer.name) }
            default: break
            }
        }
        queue.suspend()
        port.post { .connecting(Self.peer("before")) }
        port.beginLeaving()
        // Another thread posts these events, because it is still performing the actions of an earlier transition.
        port.post { .connecting(Self.peer("late")) }
        port.post { .notConnected(Self.peer("gone"), PeerFailure(.left)) }
        port.left()
        port.post { .connecting(Self.peer("after")) }
        queue.resume()
        queue.sync {}
        #expect(seen.withLock { $0 } == ["gone", "after"])
    }

    @Test("The proof of a certificate is checked on the group's queue, and a peer with a wrong one is refused")
    func judges() throws {
        let queue = DispatchQueue(label: "group")
        var settings = PeerGroup.Settings()
        settings.judgesCertificates = true
        let group = PeerGroup(try SimulatedMember.node(), settings, queue: queue) { _ in }
        queue.suspend()
        let made = Result { try SimulatedMember(of: group, showing: [[1, 2, 3]]) }
        let early = (try? made.get())?.end
        // Resume the queue in every case. Dispatch does not permit the release of a suspended queue.
        queue.resume()
        let bob = try made.get()
        queue.sync {}
        bob.exchange()
        #expect(early == nil && bob.end == .notVerified)
        withExtendedLifetime(group) {}
    }
}
