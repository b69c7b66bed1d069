import CausewayPeerProtocols
import CausewayTestKit
import Testing

@Suite("Floods of invitations")
struct PeerInvitationFloodTests {
    /// How the test program reacts to invitations from unknown peers.
    enum Conduct: CaseIterable { case ignores, refuses, refusesLate }

    /// A mesh for the tests, with the answers of its program. The program knows only some of the peers that invite it.
    private struct Subject: ~Copyable {
        var mesh: PeerMesh
        let session: SessionID
        var now = Duration.zero
        var asked: [(id: InvitationID, peer: PeerKey)] = []

        init() {
            let publicKey = [UInt8](repeating: 9, count: 91)
            mesh = PeerMesh(
                own: PeerInfo(key: PeerKey(id: 1, publicKey: publicKey), name: "own", publicKey: publicKey),
                random: SplitMix64(seed: 1))
            session = mesh.openSession()
        }

        /// Lets a peer connect and send an invitation. Returns the link if the peer mesh accepts it.
        @discardableResult
        mutating func invite(_ peer: HostilePeer) -> LinkID? {
            now += .milliseconds(20)
            mesh.advance(to: now)
            guard let link = mesh.accepted(peer.facts, at: now) else { return nil }
            mesh.received(link, peer.hello(), at: now)
            let invitation = PeerBodies.invite([UInt8](repeating: 0, count: 2_000), timeout: .seconds(300))
            mesh.received(link, peer.bytes(invitation), at: now)
            while let action = mesh.nextAction() {
                if case .invited(let id, let info, _) = action { asked.append((id, info.key)) }
            }
            return link
        }

        var open: [PeerKey] { asked.suffix(200).filter { mesh.isAsked($0.id) }.map(\.peer) }

        mutating func answer(_ conduct: Conduct, except honest: PeerKey) {
            guard conduct != .ignores else { return }
            // With late refusals, an invitation is refused only after fifty more have arrived.
            for question in asked.suffix(60).dropLast(conduct == .refuses ? 0 : 50) where question.peer != honest {
                mesh.answer(question.id, with: nil, at: now)
            }
        }
    }

    private func stranger(_ index: Int, addresses: Int) -> HostilePeer {
        var peer = HostilePeer(UInt64(100 + index))
        peer.address = [10, 0, 0, UInt8(index % addresses)]
        return peer
    }

    @Test(
        "16 questions at most; a peer that invites once in the flood is asked about, and its late answer counts",
        arguments: Conduct.allCases, [4, 40])
    func flood(_ conduct: Conduct, addresses: Int) throws {
        var subject = Subject()
        var honest = HostilePeer(7)
        honest.address = [10, 1, 1, 1]
        var link: LinkID?
        for index in 0..<300 {
            subject.invite(stranger(index, addresses: addresses))
            if index == 150 { link = subject.invite(honest) }
            subject.answer(conduct, except: honest.key)
            #expect(subject.open.count <= 16)
            #expect(subject.mesh.linkCount <= 128)
        }
        #expect(subject.mesh.bufferedByteCount <= 128 * 4_200)
        let question = try #require(subject.asked.first { $0.peer == honest.key }, "the program was not asked")
        let isAsked = subject.mesh.isAsked(question.id)
        #expect(isAsked)
        subject.mesh.answer(question.id, with: subject.session, at: subject.now)
        let certificates = honest.bytes(PeerFrame(.certificate)) + honest.bytes(PeerFrame(.certified))
        subject.mesh.received(try #require(link), certificates, at: subject.now)
        let isConnected = subject.mesh.isConnected(MemberID(subject.session, honest.key))
        #expect(isConnected)
    }

    @Test("One peer that invites again and again is asked about once at a time")
    func onePeer() {
        var subject = Subject()
        let peer = HostilePeer(3)
        for _ in 0..<200 {
            subject.invite(peer)
            #expect(subject.open.count <= 1)
            #expect(subject.mesh.linkCount <= 40)
        }
    }

    @Test("A repeated INVITE gives a question no more time, and the question ends with its link")
    func repeated() throws {
        var subject = Subject()
        let peer = HostilePeer(3)
        let accepted = subject.invite(peer)
        let link = try #require(accepted)
        let first = subject.asked.first
        let question = try #require(first)
        let again = peer.bytes(PeerBodies.invite(nil, timeout: .seconds(300)))
        subject.mesh.received(link, again, at: subject.now + .seconds(200))
        subject.mesh.advance(to: subject.now + .seconds(202))
        let isAsked = subject.mesh.isAsked(question.id)
        #expect(isAsked && subject.mesh.linkCount == 1)
        for time in 301...303 { subject.mesh.advance(to: subject.now + .seconds(time)) }
        let isStillAsked = subject.mesh.isAsked(question.id)
        #expect(!isStillAsked && subject.mesh.linkCount == 0)
    }

    @Test("A member that repeats INVITE and reads nothing has one answer in its queue")
    func member() throws {
        var subject = Subject()
        let peer = HostilePeer(3)
        let accepted = subject.invite(peer)
        let link = try #require(accepted)
        let first = subject.asked.first
        let question = try #require(first)
        subject.mesh.answer(question.id, with: subject.session, at: subject.now)
        let certificates = peer.bytes(PeerFrame(.certificate)) + peer.bytes(PeerFrame(.certified))
        subject.mesh.received(link, certificates, at: subject.now)
        while subject.mesh.takeOutput(link, atMost: 65_536, at: subject.now) != nil {}
        let invitation = peer.bytes(PeerBodies.invite(nil, timeout: .seconds(30)))
        for _ in 0..<1_000 { subject.mesh.received(link, invitation, at: subject.now) }
        var reader = PeerFrameReader()
        while let bytes = subject.mesh.takeOutput(link, atMost: 65_536, at: subject.now) { reader.append(bytes) }
        var answers: [PeerFrameType] = []
        while let frame = try reader.next() { answers.append(frame.type) }
        #expect(answers == [.accept])
    }

    @Test("A peer with a recorded key takes the place of an unknown one, and no unknown one takes its place")
    func recorded() {
        var subject = Subject()
        let known = HostilePeer(7)
        subject.mesh.pin(known.key)
        // Now the known peer sends more invitations than any other peer.
        for _ in 0..<20 {
            subject.invite(known)
            for question in subject.asked { subject.mesh.answer(question.id, with: nil, at: subject.now) }
        }
        for index in 0..<100 {
            subject.invite(stranger(index, addresses: 100))
            if index == 50 { subject.invite(known) }
        }
        #expect(subject.open.contains(known.key) && subject.open.count == 16)
    }

    @Test("Links without invitation give way when all places are taken")
    func lobby() {
        var subject = Subject()
        for index in 0..<400 {
            let peer = stranger(index, addresses: 40)
            if let link = subject.mesh.accepted(peer.facts, at: subject.now) {
                subject.mesh.received(link, peer.hello(), at: subject.now)
            }
            while subject.mesh.nextAction() != nil {}
        }
        #expect(subject.mesh.linkCount == 128)
        let honest = HostilePeer(7)
        subject.invite(honest)
        #expect(subject.open == [honest.key])
    }
}
