import CausewayPeerProtocols
import Dispatch
import Synchronization
import Testing

@testable import CausewayPeers

@Suite("Invitations of an advertisement")
struct PeerAdvertisementTests {
    @Test("Invitations that the program has not got when it stops advertising are declined")
    func stops() throws {
        let node = try SimulatedMember.node()
        let queue = DispatchQueue(label: "advertiser")
        let count = Mutex(0)
        let port = PeerAdvertisement.Port("cw-test", queue) { event in
            if case .invited = event { count.withLock { $0 += 1 } }
        }
        node.apply { core, _ in core.service.advertisements.append(port) }
        let advertisement = PeerAdvertisement(node, port, nil)
        queue.suspend()
        let made = Result { try SimulatedMember(inviting: node) }
        let early = (try? made.get())?.end
        advertisement.stop()
        // Resume the queue, because Dispatch does not allow the release of a suspended queue.
        queue.resume()
        let bob = try made.get()
        queue.sync {}
        bob.exchange()
        #expect(early == nil && bob.end == .declined && count.withLock { $0 } == 0)
        // After the stop, the action for an earlier invitation can still follow. Simulate this.
        node.apply { core, _ in core.service.advertisements.append(port) }
        let late = try SimulatedMember(inviting: node)
        queue.sync {}
        #expect(late.end == .declined && count.withLock { $0 } == 0)
    }
}
