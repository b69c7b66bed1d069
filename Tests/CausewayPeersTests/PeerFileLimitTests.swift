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

    private final class Receipts: Sendable {
        private let all = Mutex<[PeerReceipt]>([])

        func add(_ receipt: PeerReceipt) { all.withLock { $0.append(receipt) } }

        /// Releases all stored receipts, and returns their number.
        func releaseAll() -> Int {
            let old = all.withLock { receipts in
                defer { receipts = [] }
                return receipts
            }
            return old.count
        }
    }

    @Test("While the program has not taken the ends of 64 files, no further file is fetched")
    func untaken() throws {
        let queue = DispatchQueue(label: "group")
        let receipts = Receipts()
        let group = PeerGroup(try SimulatedMember.node(), queue: queue) { event in
            if case .fileFinished(_, _, _, let receipt) = event { receipts.add(receipt) }
        }
        let bob = try SimulatedMember(of: group)
        for _ in 0..<64 { bob.cancelFile(try #require(bob.offerFile())) }
        bob.exchange()
        _ = bob.offerFile()
        bob.exchange()
        // Wait until the file is created, and until the state machine has been asked to fetch it.
        group.port.files.queue.sync {}
        bob.exchange()
        queue.sync {}
        #expect(bob.requestCount == 0)
        let ends = receipts.releaseAll()
        group.port.files.queue.sync {}
        bob.exchange()
        #expect(ends == 64 && bob.requestCount == 1)
        withExtendedLifetime(group) {}
    }
}
