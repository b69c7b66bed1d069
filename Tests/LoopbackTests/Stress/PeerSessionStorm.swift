import Causeway
import CausewayPeers
import CausewaySystem
import CausewayTestKit
import Foundation

/// Stress test with peer sessions that come and go. Tasks use each session until all of them are cancelled at a random
/// time.
final class PeerSessionStorm: Sendable {
    let log = StormLog()
    let places = StormPlaces()
    private let seed: UInt64
    private let locals: [LocalPeer]
    private let file: URL
    private let sessions = LockedValue<[Weak]>([])

    private struct Weak: Sendable {
        weak let session: PeerSession?
    }

    init(seed: UInt64) throws {
        self.seed = seed
        locals = try (0..<5).map { try LocalPeer(named: "S\($0)") }
        file = FileManager.default.temporaryDirectory.appendingPathComponent("storm-\(UUID())")
        try Data(count: 100_000).write(to: file)
    }

    deinit { try? FileManager.default.removeItem(at: file) }

    /// The sessions that still exist.
    var livingSessions: Int { sessions.withLock { sessions in sessions.count { $0.session != nil } } }

    /// Runs the stress test. Returns when all tasks have ended.
    func run(for seconds: Int) async {
        let deadline = System.now + .seconds(seconds)
        await withTaskGroup { group in
            for index in locals.indices {
                group.addTask { [self] in
                    var random = SplitMix64(seed: seed &* 31 &+ UInt64(index))
                    while !log.isOver(deadline) { await live(index, &random) }
                }
            }
        }
    }

    private func live(_ index: Int, _ random: inout SplitMix64) async {
        let node = PeerNode(locals[index], queueLimit: 1 << 20)
        places.add(node)
        var options = PeerSession.Options()
        options.browses = random.chance(oneIn: 2)
        let session = PeerSession(node, "cw-storm", 8, options)
        sessions.withLock { sessions in
            sessions.removeAll { $0.session == nil }
            sessions.append(Weak(session: session))
        }
        let seeds = (0..<3).map { _ in random.next() }
        let length = random.integer(in: 20...1_500)
        await withTaskGroup { group in
            group.addTask { await self.take(session.events, SplitMix64(seed: seeds[0])) }
            for seed in seeds.dropFirst() { group.addTask { await self.use(session, SplitMix64(seed: seed)) } }
            try? await Task.sleep(for: .milliseconds(length))
            group.cancelAll()
        }
    }

    private func take(_ events: PeerSession.Events, _ start: SplitMix64) async {
        var random = start
        var members: Set<PeerIdentity> = []
        do {
            for try await event in events { await handle(event, &members, &random) }
        } catch {
            log.violated("events: \(error)")
        }
    }

    private func handle(_ event: PeerEvent, _ members: inout Set<PeerIdentity>, _ random: inout SplitMix64) async {
        switch event {
        case .invited(let invite):
            switch random.integer(in: 0...9) {
            case 0...6: invite.accept()
            case 7: invite.decline()
            case 8: break
            default:
                try? await Task.sleep(for: .milliseconds(5))
                invite.accept()
            }
        case .joined(let peer):
            if !members.insert(peer).inserted { log.violated("\(peer.name) joined twice") }
            log.connections.increment()
        case .left(let peer, _): members.remove(peer)
        case .received(_, let peer):
            if !members.contains(peer) { log.violated("a message of \(peer.name), which is no member") }
            log.messages.increment()
        case .stream(let reader, _):
            var iterator = reader.makeAsyncIterator()
            if random.chance(oneIn: 2) { _ = try? await iterator.next() }
        case .receiving(let transfer, _): if random.chance(oneIn: 3) { transfer.cancel() }
        case .compare(let code, _): code.confirm(!random.chance(oneIn: 4))
        case .found, .updated, .lost, .suspended, .resumed, .file, .fileFailed, .paired, .unsaved, .refused: break
        }
    }

    private func use(_ session: PeerSession, _ start: SplitMix64) async {
        var random = start
        while !Task.isCancelled {
            // Each action may fail, because other peers leave at any time.
            try? await act(session, &random)
            try? await Task.sleep(for: .microseconds(random.integer(in: 0...5_000)))
        }
    }

    private func act(_ session: PeerSession, _ random: inout SplitMix64) async throws {
        let peer = session.peers.randomElement(using: &random)
        let size = random.integer(in: 0...40_000)
        switch (random.integer(in: 0...11), peer) {
        case (0...3, _):
            let other = locals[random.integer(in: 0...(locals.count - 1))].peer
            let invitation = Task { try await session.invite(other, within: .seconds(1)) }
            try? await Task.sleep(for: .microseconds(random.integer(in: 0...30_000)))
            if random.chance(oneIn: 3) { invitation.cancel() }
            try await withTaskCancellationHandler {
                try await invitation.value
            } onCancel: {
                invitation.cancel()
            }
        case (4...5, _): try await session.send(Data(count: size))
        case (6, _): try await session.send(Data(count: min(size, 1_000)), as: .datagram)
        case (7, let peer?): try await session.send(Data(count: size), to: .peer(peer), as: .latest(key: "k"))
        case (8, let peer?):
            let writer = try session.open("bytes", to: peer)
            try await writer.write(Data(count: size))
            if random.chance(oneIn: 2) { writer.finish() }
        case (9, let peer?):
            for try await _ in session.send(file: file, to: peer) where random.chance(oneIn: 3) { break }
        case (10, let peer?): try await session.verify(peer) { _ in true }
        default: if random.chance(oneIn: 5) { session.leave() }
        }
    }
}
