import CausewayPeerActors
import CausewayPeerProtocols
import CausewayPeers
import CausewayTestKit
import Distributed
import Foundation
import Synchronization
import Testing

@Suite("Hostile peers of distributed actors")
struct HostileTests {
    /// A hostile peer. It can send arbitrary frames, and collects the frames that it receives.
    private final class Mallory: Sendable {
        let network: FakeNetwork
        let me = FakeNetwork.peer(9)
        private let replies = Mutex<[UInt64: ActorReply]>([:])
        private let number = Mutex<UInt64>(0)

        init(_ network: FakeNetwork) {
            self.network = network
            network.setHandler(
                { [weak self] event in
                    guard case .frame(let bytes, _) = event, let frame = try? ActorFrame(bytes) else { return }
                    if case .reply(let call, let reply) = frame { self?.replies.withLock { $0[call] = reply } }
                }, of: me)
            network.join(me)
        }

        /// Sends a call with arbitrary content, and returns the reply.
        func call(_ target: String, of actor: UInt64, _ arguments: [String], at peer: PeerIdentity) async -> ActorReply
        {
            let id = number.withLock { number in
                number += 1
                return number
            }
            let call = ActorCall(id: id, actor: actor, target: target, arguments: arguments.map { Array($0.utf8) })
            network.inject(ActorFrame.call(call).bytes, from: me, to: peer)
            while true {
                if let reply = replies.withLock({ $0[id] }) { return reply }
                await Task.yield()
            }
        }
    }

    private static let prefix = "$s23CausewayPeerActorsTests7CounterC"
    private static let increment = prefix + "9increment2byS2i_tYaKFTE"

    private func refusal(_ reply: ActorReply) -> ActorRefusal? {
        if case .refused(let refusal, _) = reply { refusal } else { nil }
    }

    @Test("Only distributed functions of the actor's own type can be called, by any name that a peer sends")
    func targets() async throws {
        let pair = try await Pair()
        let mallory = Mallory(pair.network)
        let number = pair.counter.id.number
        #expect(await mallory.call(Self.increment, of: number, ["1"], at: pair.bob.me) == .value(Array("1".utf8)))
        var names = [
            "", "$", "$s", "x", "main", Self.prefix, Self.prefix + "FTE", Self.increment + "x", Self.increment + "\0",
            String(Self.increment.dropLast(3)), Self.prefix + "6secretyyF",
            // The first name denotes a function of a type that is nested in the actor. The second name denotes a
            // function of another actor.
            Self.prefix + "5InnerC5touchyyYaKFTE", "$s23CausewayPeerActorsTests5ChildC4nameSSyYaKFTE",
            "$s23CausewayPeerActorsTests7CounterC4waityyYaF", "$sSS", "$s" + String(repeating: "y", count: 900),
            Self.prefix + String(repeating: "S", count: 900), "_$s" + Self.increment.dropFirst(2),
        ]
        var random = SplitMix64(seed: 7)
        for _ in 0..<300 {
            var bytes = Array(Self.increment.utf8)
            for _ in 0..<random.integer(in: 1...4) {
                bytes[random.integer(in: 2...bytes.count - 1)] = UInt8(random.integer(in: 33...126))
            }
            let name = String(decoding: bytes, as: UTF8.self)
            if name != Self.increment { names.append(name) }
        }
        for name in names {
            let reply = await mallory.call(name, of: number, ["1"], at: pair.bob.me)
            #expect(refusal(reply) == .unknownTarget, "\(name): \(reply)")
        }
        #expect(try await pair.remote.current == 1)
        pair.stop()
    }

    @Test("Arguments that are missing, malformed, or refer to actors that are not shared are refused")
    func arguments() async throws {
        let pair = try await Pair()
        let mallory = Mallory(pair.network)
        let number = pair.counter.id.number
        let hidden = Counter(pair.bob)
        let deep = String(repeating: "[", count: 100_000)
        for argument in ["", "x", "\"1\"", "1e400", "{}", "[1]", "null", "99999999999999999999", deep, "1 1"] {
            let reply = await mallory.call(Self.increment, of: number, [argument], at: pair.bob.me)
            #expect(refusal(reply) == .invalidArguments, "\(argument.prefix(20)): \(reply)")
        }
        #expect(refusal(await mallory.call(Self.increment, of: number, [], at: pair.bob.me)) == .invalidArguments)
        let call = Self.prefix + "4callySiAC_SitYaKFTE"
        for id in [hidden.id.description, "", "x", String(hidden.id.description.dropLast())] {
            let reply = await mallory.call(call, of: number, ["\"\(id)\"", "1"], at: pair.bob.me)
            #expect(refusal(reply) == .invalidArguments, "\(id): \(reply)")
        }
        #expect(await mallory.call(call, of: number, ["\"\(number)\""], at: pair.bob.me) != .void)
        #expect(try await hidden.current == 0)
        pair.stop()
    }

    @Test("Actors that were neither published nor shared are unknown, and shared ones are not")
    func unshared() async throws {
        let pair = try await Pair()
        let mallory = Mallory(pair.network)
        let own = Counter(pair.bob)
        for number in [own.id.number, 0, 1, UInt64.max] {
            let reply = await mallory.call(Self.increment, of: number, ["1"], at: pair.bob.me)
            #expect(refusal(reply) == .unknownActor)
        }
        let id = pair.bob.share(own)
        #expect(await mallory.call(Self.increment, of: id.number, ["1"], at: pair.bob.me) == .value(Array("1".utf8)))
        pair.stop()
    }

    @Test("A malformed frame ends the calls of its sender, and those of no other peer")
    func malformed() async throws {
        let pair = try await Pair()
        let mallory = Mallory(pair.network)
        let theirs = try Counter.resolve(id: PeerActorFakes.id(mallory.me, 5), using: pair.bob)
        let call = Task { () -> PeerActorFailure.Code? in
            do {
                _ = try await theirs.current
                return nil
            } catch { return (error as? PeerActorFailure)?.code }
        }
        while pair.network.sentCount(to: mallory.me) < 3 { await Task.yield() }
        pair.network.inject(ActorFrame.magic + [1], from: mallory.me, to: pair.bob.me)
        #expect(await call.value == .violation)
        let failure = await #expect(throws: PeerActorFailure.self) { try await theirs.current }
        #expect(failure?.code == .violation)
        #expect(try await pair.remote.increment(by: 1) == 1)
        pair.stop()
    }

    @Test("Types that peers cannot name are refused when they are published")
    func privateTypes() async throws {
        let pair = try await Pair()
        let failure = #expect(throws: PeerActorFailure.self) { try publishHidden(pair.bob) }
        #expect(failure?.code == .unsupported)
        let foreign = #expect(throws: PeerActorFailure.self) {
            try pair.ann.receptionist.publish(pair.remote, under: "counter")
        }
        #expect(foreign?.code == .unknownActor)
        pair.stop()
    }
}

/// Creates actor identities for which no actor exists.
enum PeerActorFakes {
    static func id(_ peer: PeerIdentity, _ number: UInt64) throws -> PeerActorID {
        let digits = { (value: UInt64) in
            let text = String(value, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        let digest = peer.fingerprint.map { String(digits(UInt64($0)).suffix(2)) }.joined()
        let text = "\"\(digits(peer.id)).\(digest).\(digits(number))\""
        return try JSONDecoder().decode(PeerActorID.self, from: Data(text.utf8))
    }
}
