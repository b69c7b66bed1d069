import CausewayPeerProtocols
import CausewayTestKit
import Testing

@Suite("The five laws of the state machines of peers")
struct PeerMachineLawTests {
    static let trials: [any MachineTesting] = [
        PeerTrials.mesh, PeerTrials.actors, LinkTrials.keepalive, LinkTrials.lane, LinkTrials.link, LinkTrials.queue,
        LinkTrials.verification,
    ]

    @Test("A machine obeys the five laws in random histories", arguments: trials)
    func obeysLaws(_ trial: any MachineTesting) {
        for breach in trial.breaches(seeds: MachineSeeds.range) { Issue.record("\(breach)") }
    }

    @Test("Each machine has one trial")
    func hasOneTrial() {
        #expect(
            Self.trials.map(\.name) == [
                "PeerMesh", "ActorEngine", "Keepalive", "LaneWatch", "LinkMachine", "ReliableQueue",
                "VerificationMachine",
            ])
    }
}

enum PeerTrials {
    private struct Engaged: Sendable {
        var calls: [(number: UInt64, peer: Int)] = []
        var services: [ActorService<Int>] = []
        var lastWaiter = 0
    }

    static var actors: any MachineTesting {
        MachineTrial("ActorEngine", model: Engaged()) { _ in
            var limits = ActorLimits()
            limits.callCount = 4
            limits.listingCount = 3
            limits.waitingByteCount = 120
            return ActorEngine<Int, Int>(limits)
        } event: { engine, engaged, now, random in
            let peer = random.integer(in: 0...1)
            switch random.integer(in: 0...11) {
            case 0, 1, 2: engine.joined(peer)
            case 3: if random.chance(oneIn: 3) { engine.left(peer, "gone") }
            case 4, 5:
                engaged.lastWaiter += 1
                if let number = try? engine.call(peer, engaged.lastWaiter, until: now + .seconds(1)) {
                    engaged.calls.append((number, peer))
                }
            case 6:
                if let call = engaged.calls.randomElement(using: &random) {
                    engine.cancel(call.number, to: call.peer, wasSent: random.chance(oneIn: 2))
                }
            case 7:
                if let service = engaged.services.popLast(), engine.begin(service) {
                    _ = engine.finish(service, with: .void)
                }
            case 8: _ = engine.publish(listing(&random))
            case 9: engine.withdraw(listing(&random))
            default: engine.received(frame(&random), from: peer)
            }
            return []
        }.noting { engaged, action in
            if case .serve(_, let service) = action { engaged.services.append(service) }
        }
        // A hash table stores the members. So the order of frames for different members can vary.
        .comparing(.withoutOrder)
    }

    private static func listing(_ random: inout SplitMix64) -> ActorListing {
        ActorListing(
            ActorListing.Name(key: "\(random.integer(in: 0...2))", type: "t"), actor: UInt64(random.integer(in: 0...2)))
    }

    private static func frame(_ random: inout SplitMix64) -> [UInt8] {
        let number = UInt64(random.integer(in: 0...5))
        switch random.integer(in: 0...9) {
        case 0: return random.bytes(random.integer(in: 0...5))
        case 1: return ActorFrame.hello(version: 1, wantsAnswer: random.chance(oneIn: 2)).bytes
        case 2: return ActorFrame.cancel(call: number).bytes
        case 3: return ActorFrame.publish(listing(&random)).bytes
        case 4: return ActorFrame.withdraw(listing(&random)).bytes
        case 5, 6: return ActorFrame.reply(call: number, .value([1])).bytes
        default:
            let argument = random.bytes(random.integer(in: 0...40))
            return ActorFrame.call(ActorCall(id: number, actor: 1, target: "t", arguments: [argument])).bytes
        }
    }

    private struct Met: Sendable {
        var session: SessionID?
        var links: [LinkID] = []
        var invitations: [InvitationID] = []
    }

    private static let exporter = [UInt8](repeating: 7, count: 32)

    private static func key(_ number: Int) -> PeerKey {
        PeerKey(id: UInt64(number), publicKey: [4, UInt8(number)])
    }

    static var mesh: any MachineTesting {
        MachineTrial("PeerMesh", model: Met()) { random in
            PeerMesh(
                own: PeerInfo(key: key(1), name: "own", publicKey: [4, 1]), random: SplitMix64(seed: random.next()))
        } event: { mesh, met, now, random in
            let session = met.session ?? mesh.openSession()
            met.session = session
            let peer = key(random.integer(in: 2...4))
            let member = MemberID(session, peer)
            let link = met.links.randomElement(using: &random)
            switch random.integer(in: 0...11) {
            case 0, 1:
                let timeout = Duration.seconds(random.chance(oneIn: 8) ? Int64.max : 5)
                mesh.invite(member, name: "", timeout: timeout, at: now)
            case 2: _ = mesh.send([1, 2], to: member, reliably: random.chance(oneIn: 2), at: now)
            case 3: if let link { mesh.linkEnded(link, .failed, at: now) }
            case 4: if let link { mesh.dialFailed(link, at: now) }
            case 5:
                if let link {
                    mesh.dialSucceeded(link, LinkFacts(exporter: exporter, fingerprint: peer.digestBytes), at: now)
                }
            case 6: if let id = met.invitations.popLast() { mesh.answer(id, with: session, at: now) }
            case 7: if let link { mesh.received(link, random.bytes(random.integer(in: 0...9)), at: now) }
            case 8: connect(&mesh, member, now, &random)
            case 9:
                mesh.showPairing(random.chance(oneIn: 3) ? nil : [1], until: now + .seconds(1))
                _ = mesh.expectPairing(of: peer, [2], until: now + .milliseconds(500), at: now)
            default:
                if let link = accept(&mesh, peer, isInviting: random.chance(oneIn: 2), now) { met.links.append(link) }
            }
            for link in met.links { while mesh.takeOutput(link, atMost: 1_000, at: now) != nil {} }
            return []
        }.noting { met, action in
            switch action {
            case .dial(let link, _): met.links.append(link)
            case .close(let link): met.links.removeAll { $0 == link }
            case .invited(let id, _, _): met.invitations.append(id)
            default: break
            }
        }
    }

    /// Simulates a program that connects to a member with connection data, which the member's peer has created.
    private static func connect(
        _ mesh: inout PeerMesh, _ member: MemberID, _ now: Duration, _ random: inout SplitMix64
    ) {
        let handle = SessionHandle([UInt8](repeating: 3, count: 16)) ?? .none
        let entry = RosterEntry(key: member.peer, name: "", handle: handle, endpoints: [])
        let data = ConnectionData(entry: entry, token: [UInt8](repeating: 1, count: 16)).bytes
        let timeout = Duration.seconds(random.chance(oneIn: 4) ? Int64.max : 2)
        _ = mesh.connect(member.session, to: member.peer.id, data: data, timeout: timeout, at: now)
        _ = mesh.connectionData(member.session, for: member.peer.id)
    }

    /// Simulates a peer that connects and sends HELLO. If `isInviting` is `true`, the peer also sends an invitation.
    private static func accept(_ mesh: inout PeerMesh, _ peer: PeerKey, isInviting: Bool, _ now: Duration) -> LinkID? {
        let facts = LinkFacts(exporter: exporter, fingerprint: peer.digestBytes, address: [10, 0, 0, 1])
        guard let link = mesh.accepted(facts, at: now) else { return nil }
        let handle = SessionHandle([UInt8](repeating: 3, count: 16)) ?? .none
        let publicKey = [4, UInt8(peer.id)]
        var hello = Hello(peer: PeerInfo(key: peer, name: "", publicKey: publicKey), handle: handle)
        hello.proof = Hello.proof(exporter: exporter, isDialler: true, handle: handle, publicKey: publicKey)
        var bytes: [UInt8] = []
        hello.frame.serialize(into: &bytes)
        if isInviting { PeerBodies.invite([1], timeout: .seconds(9)).serialize(into: &bytes) }
        mesh.received(link, bytes, at: now)
        return link
    }
}
