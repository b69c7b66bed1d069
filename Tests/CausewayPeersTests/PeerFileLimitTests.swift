import Dispatch
import Foundation
import Synchronization
import Testing

@testable import CausewayPeers

@Suite("The limit of files to a member")
struct PeerFileLimitTests {
    @Test("The 65th open file to a member is refused with excess, and one to another peer with notConnected")
    func excess() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).txt")
        defer { try? FileManager.default.removeItem(at: url) }
        try Data("a".utf8).write(to: url)
        let queue = DispatchQueue(label: "group")
        let group = PeerGroup(try SimulatedMember.node(), queue: queue) { _ in }
        let bob = try SimulatedMember(of: group)
        let failures = Mutex<[PeerFailure?]>([])
        let completion: @Sendable (PeerFailure?) -> Void = { failure in failures.withLock { $0.append(failure) } }
        for _ in 0..<64 { _ = group.sendFile(at: url, name: "a", to: bob.identity, completion: completion) }
        queue.sync {}
        #expect(failures.withLock { $0 } == [])
        let other = PeerIdentity(id: 9, fingerprint: bob.identity.fingerprint, name: "")
        for peer in [bob.identity, other] {
            _ = group.sendFile(at: url, name: "a", to: peer, completion: completion)
        }
        queue.sync {}
        #expect(failures.withLock { $0 } == [PeerFailure(.excess), PeerFailure(.notConnected)])
        withExtendedLifetime(group) {}
    }
}
