import Causeway
import CausewayPeerActors
import CausewayPeers
import Distributed
import Foundation
import Testing

/// A counter actor. It notifies the test when a call begins to wait.
distributed actor LoopbackCounter {
    typealias ActorSystem = PeerActorSystem

    private var value = 0
    let started: Mailbox<Bool>

    init(_ system: PeerActorSystem, _ started: Mailbox<Bool>) {
        actorSystem = system
        self.started = started
    }

    distributed func increment() -> Int {
        value += 1
        return value
    }

    distributed func size(_ data: Data) -> Int { data.count }

    distributed func wait() async throws {
        started.put(true)
        try await Task.sleep(for: .seconds(600))
    }
}

extension Loopback {
    @Suite("Distributed actors of peers")
    struct PeerActorTests {
        private func sessions() async throws -> (PeerSession, PeerSession) {
            let nodes = try ["Ann", "Bob"].map { PeerNode(try LocalPeer(named: $0), queueLimit: 4 << 20) }
            for (node, other) in [(nodes[0], nodes[1]), (nodes[1], nodes[0])] {
                let number = await withCheckedContinuation { done in other.whenListening { done.resume(returning: $0) }
                }
                let port = try #require(NWEndpoint.Port(rawValue: number))
                node.learn(.hostPort(host: .ipv4(.loopback), port: port), of: other.local.peer)
            }
            var options = PeerSession.Options()
            options.browses = false
            return (PeerSession(nodes[0], "cw-test", 8, options), PeerSession(nodes[1], "cw-test", 8, options))
        }

        @Test("1,000 calls each way at once, messages beside them, and a peer that leaves during calls")
        func counters() async throws {
            let (ann, bob) = try await sessions()
            let (annSystem, bobSystem) = (PeerActorSystem(ann), PeerActorSystem(bob))
            let started = Mailbox<Bool>()
            try annSystem.receptionist.publish(LoopbackCounter(annSystem, started), under: "counter")
            try bobSystem.receptionist.publish(LoopbackCounter(bobSystem, started), under: "counter")
            let messages = Mailbox<String>()
            let following = Task {
                for try await event in bob.events {
                    switch event {
                    case .invited(let invite): invite.accept()
                    case .received(let data, _): messages.put(String(decoding: data, as: UTF8.self))
                    default: break
                    }
                }
            }
            try await ann.invite(bob.me)
            let atBob: LoopbackCounter = try await annSystem.receptionist.firstRemote("counter")
            let atAnn: LoopbackCounter = try await bobSystem.receptionist.firstRemote("counter")
            #expect(atBob.id.peer == bob.me && atAnn.id.peer == ann.me)
            async let one = Self.calls(atBob)
            async let other = Self.calls(atAnn)
            try await ann.send(Data("a message of the program".utf8))
            #expect(try await (one, other) == (1_000, 1_000))
            #expect(try await messages.next() == "a message of the program")
            #expect(try await atBob.size(Data(count: 600_000)) == 600_000)

            let call = Task { try await atBob.wait() }
            _ = try await started.next()
            bob.leave()
            let failure = await #expect(throws: PeerActorFailure.self) { try await call.value }
            #expect(failure?.code == .peerLost)
            #expect(annSystem.receptionist.lookup("counter" as PeerActorKey<LoopbackCounter>).count == 1)
            await #expect(throws: PeerActorFailure.self) { try await atBob.increment() }
            annSystem.stop()
            bobSystem.stop()
            following.cancel()
        }

        /// Calls the counter 1,000 times from four tasks, and returns the highest result.
        private static func calls(_ counter: LoopbackCounter) async throws -> Int {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        var highest = 0
                        for _ in 0..<250 { highest = max(highest, try await counter.increment()) }
                        return highest
                    }
                }
                return try await group.reduce(0, max)
            }
        }
    }
}
