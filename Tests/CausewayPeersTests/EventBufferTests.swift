import CausewayPeerProtocols
import CausewayTestKit
import Foundation
import Synchronization
import Testing

@testable import CausewayPeers

@Suite("The events of a session that were not taken yet")
struct EventBufferTests {
    private let peer = PeerIdentity(id: 1, fingerprint: [UInt8](repeating: 1, count: 16), name: "Ann")

    private func isJoined(_ buffer: EventBuffer) async throws -> Bool {
        if case .joined? = try await buffer.next() { true } else { false }
    }

    @Test("Events are taken in order, and a receipt is released with its event")
    func order() async throws {
        let buffer = EventBuffer()
        let released = Mutex(0)
        for _ in 0..<200 { buffer.add(.joined(peer), PeerReceipt { released.withLock { $0 += 1 } }) }
        buffer.add(.suspended(peer))
        #expect(released.withLock { $0 } == 0)
        for number in 0..<200 {
            try #require(await isJoined(buffer), "\(number)")
        }
        let last = try await buffer.next()
        if case .suspended? = last {} else { Issue.record("\(String(describing: last))") }
        #expect(released.withLock { $0 } == 200)
    }

    @Test("An actor that takes events which are there stays on its executor")
    func isolation() async throws {
        let buffer = EventBuffer()
        for _ in 0..<500 { buffer.add(.joined(peer)) }
        buffer.finish(.success(()))
        let reader = CountingActor()
        let count = try await reader.run { actor in
            var count = 0
            for try await _ in PeerSession.Events(buffer: buffer) { count += 1 }
            return count
        }
        #expect(count == 500 && reader.jobCount < 50)
    }

    /// The set of peers that a program knows from the events it has processed.
    private struct View {
        var peers: [PeerIdentity: [String: String]] = [:]

        mutating func take(_ event: PeerEvent) {
            switch event {
            case .found(let peer, let info):
                if peers.updateValue(info, forKey: peer) != nil { Issue.record("\(peer.id) is found again") }
            case .updated(let peer, let info):
                if peers.updateValue(info, forKey: peer) == nil { Issue.record("\(peer.id) was not found") }
            case .lost(let peer):
                if peers.removeValue(forKey: peer) == nil { Issue.record("\(peer.id) was not found") }
            default: break
            }
        }
    }

    @Test("Discovery events are bounded, and other events and the newest refusal stay")
    func bound() async throws {
        let buffer = EventBuffer()
        buffer.add(.joined(peer))
        for number in 1...10_000 {
            let other = PeerIdentity(id: UInt64(number), fingerprint: [], name: "")
            buffer.add(.found(other, info: [:]))
            buffer.add(.refused(other, PeerFailure(.unverified)))
            buffer.add(.lost(other))
        }
        buffer.finish(.success(()))
        var counts = (joined: 0, discovery: 0)
        var view = View()
        var lastRefused: UInt64?
        while let event = try await buffer.next() {
            if case .joined = event { counts.joined += 1 } else { counts.discovery += 1 }
            if case .refused(let other, _) = event { lastRefused = other.id }
            view.take(event)
        }
        #expect(counts.joined == 1 && counts.discovery < 2_100)
        #expect(lastRefused == 10_000 && view.peers.isEmpty)
    }

    @Test("A program that takes few events learns which peers are present and their pairs", arguments: 0..<8)
    func merged(_ seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let buffer = EventBuffer()
        let others = (1...50).map { PeerIdentity(id: UInt64($0), fingerprint: [], name: "") }
        var present: [PeerIdentity: [String: String]] = [:]
        var view = View()
        for step in 0..<30_000 {
            let other = others[random.integer(in: 0...49)]
            let info = ["step": "\(step)"]
            if present[other] == nil {
                buffer.add(.found(other, info: info))
                present[other] = info
            } else if random.chance(oneIn: 2) {
                buffer.add(.lost(other))
                present[other] = nil
            } else {
                buffer.add(.updated(other, info: info))
                present[other] = info
            }
            guard step.isMultiple(of: 10) else { continue }
            // The buffer never merges this event with other events. So at least one event is available.
            buffer.add(.suspended(peer))
            if let event = try await buffer.next() { view.take(event) }
        }
        buffer.finish(.success(()))
        while let event = try await buffer.next() { view.take(event) }
        #expect(view.peers == present)
    }

    @Test("Invitations that have ended do not pile up while the program takes no events, and other events stay")
    func invitations() async throws {
        let buffer = EventBuffer()
        let node = PeerNode(try LocalPeer(named: "Bob"))
        let peer = PeerIdentity(id: 1, fingerprint: [], name: "Ann")
        for number in 0..<200 {
            // The node does not know these invitations, because they have already ended.
            let invitation = PeerInvitation(peer, Data(count: 100), InvitationID(number), node)
            buffer.add(
                .invited(
                    PeerInvite(
                        peer: peer, context: invitation.context, recognition: .unknown, invitation: invitation,
                        group: WeakGroup(group: nil))))
            if number % 10 == 0 { buffer.add(.suspended(peer)) }
        }
        buffer.finish(.success(()))
        var (invitations, others) = (0, 0)
        while let event = try await buffer.next() {
            if case .invited = event { invitations += 1 } else { others += 1 }
        }
        #expect(invitations <= 32 && others == 20)
    }

    @Test("The end comes after the events, and an error is thrown")
    func end() async throws {
        let buffer = EventBuffer()
        buffer.add(.joined(peer))
        buffer.finish(.failure(PeerFailure(.network)))
        buffer.add(.lost(peer))
        #expect(try await isJoined(buffer))
        await #expect(throws: PeerFailure(.network)) { try await buffer.next() }
    }

    /// Starts `count` tasks that read events on the actor `reader`. Returns when all tasks are suspended. Each task's
    /// result is whether it got an event.
    private func startConsumers(
        _ count: Int, of buffer: EventBuffer, on reader: CountingActor
    ) async -> [Task<Bool, any Error>] {
        let (starts, started) = AsyncStream<Void>.makeStream()
        var tasks: [Task<Bool, any Error>] = []
        for _ in 0..<count {
            let task = Task {
                try await reader.run { actor in
                    started.yield()
                    let event = try await buffer.next()
                    return event != nil
                }
            }
            tasks.append(task)
        }
        var steps = starts.makeAsyncIterator()
        for _ in 0..<count { await steps.next() }
        // The consumers start in earlier jobs on this actor. So when this job runs, all consumers have started.
        await reader.run { actor in }
        return tasks
    }

    @Test("Consumers that wait together stay suspended, and each event resumes one of them")
    func consumers() async throws {
        let buffer = EventBuffer()
        let reader = CountingActor()
        let tasks = await startConsumers(3, of: buffer, on: reader)
        let before = reader.jobCount
        for _ in 0..<100 { await reader.run { actor in } }
        #expect(reader.jobCount - before < 150, "consumers resumed each other")
        for _ in tasks { buffer.add(.joined(peer)) }
        for task in tasks { #expect(try await task.value) }
    }

    @Test("The end resumes all consumers")
    func endForAll() async throws {
        let buffer = EventBuffer()
        let tasks = await startConsumers(3, of: buffer, on: CountingActor())
        buffer.finish(.success(()))
        for task in tasks {
            let gotEvent = try await task.value
            #expect(!gotEvent)
        }
    }

    @Test("A cancelled consumer ends alone, and the other one gets the next event", arguments: [0, 1])
    func cancelledConsumer(_ cancelled: Int) async throws {
        let buffer = EventBuffer()
        let tasks = await startConsumers(2, of: buffer, on: CountingActor())
        tasks[cancelled].cancel()
        let gotEvent = try await tasks[cancelled].value
        #expect(!gotEvent)
        buffer.add(.joined(peer))
        #expect(try await tasks[1 - cancelled].value)
    }

    @Test("A cancelled wait ends without an event, and a later one gets it")
    func cancelled() async throws {
        let buffer = EventBuffer()
        let waiting = Task { try await buffer.next() }
        waiting.cancel()
        if let event = try await waiting.value { Issue.record("\(event)") }
        buffer.add(.joined(peer))
        #expect(try await isJoined(buffer))
    }
}
