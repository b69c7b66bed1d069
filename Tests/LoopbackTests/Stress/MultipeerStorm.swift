import CausewayPeers
import CausewaySystem
import CausewayTestKit
import Foundation
import Testing

@testable import MultipeerConnectivity

/// Sessions of the drop-in module that start and end at random moments. Four threads use the same few sessions.
final class MultipeerStorm: Sendable {
    private static let threadCount = 4

    let log = StormLog()
    private let seed: UInt64
    private let identities = (0..<5).map { MCPeerID(displayName: "P\($0)").peer }
    private let places = StormPlaces()
    private let members: LockedValue<[StormMember?]>
    private let file: URL

    init(seed: UInt64) throws {
        self.seed = seed
        members = LockedValue(Array(repeating: nil, count: identities.count))
        file = FileManager.default.temporaryDirectory.appendingPathComponent("storm-\(UUID())")
        try Data(count: 100_000).write(to: file)
    }

    deinit { try? FileManager.default.removeItem(at: file) }

    /// Runs the stress test. When all threads have ended, releases all members and returns.
    func run(for seconds: Int) async {
        let deadline = System.now + .seconds(seconds)
        await withTaskGroup { group in
            for index in 0..<Self.threadCount { group.addTask { await self.blow(index, until: deadline) } }
        }
        members.withLock { members in
            for index in members.indices { members[index] = nil }
        }
    }

    private func blow(_ index: Int, until deadline: Duration) async {
        await withCheckedContinuation { continuation in
            do {
                try System.startThread(named: "peer-storm") {
                    var random = SplitMix64(seed: self.seed &* 31 &+ UInt64(index))
                    while !self.log.isOver(deadline) { self.step(&random) }
                    continuation.resume()
                }
            } catch {
                log.violated("\(error)")
                continuation.resume()
            }
        }
    }

    private func step(_ random: inout SplitMix64) {
        let index = random.integer(in: 0...(identities.count - 1))
        guard let member = members.withLock({ $0[index] }) else { return begin(index, &random) }
        if random.chance(oneIn: 300) {
            // Release the object here. The thread that deallocates it can be this thread or the thread that has used it
            // last.
            members.withLock { $0[index] = nil }
        } else if random.chance(oneIn: 3) {
            let other = identities[random.integer(in: 0...(identities.count - 1))]
            member.invite(other, within: random.chance(oneIn: 4) ? 0.02 : 2)
        } else {
            member.act(&random, file: file)
        }
        usleep(UInt32(random.integer(in: 0...8_000)))
    }

    private func begin(_ index: Int, _ random: inout SplitMix64) {
        do {
            let member = try StormMember(identities[index], log, seed: random.next())
            places.add(member.node)
            members.withLock { $0[index] = member }
        } catch {
            log.violated("\(error)")
        }
    }

    var livingNodes: Int { places.living.count }
}
