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
        // Another thread performs the actions of an earlier transition.
        port.post { .connecting(Self.peer("late")) }
        port.post { .notConnected(Self.peer("gone"), PeerFailure(.left)) }
        port.left()
        port.post { .connecting(Self.peer("after")) }
        queue.resume()
        queue.sync {}
        #expect(seen.withLock { $0 } == ["gone", "after"])
    }
}
