import CausewayPeerProtocols
import CausewayTestKit
import Testing

@Suite("Hostile peers")
struct PeerHostilityTests {
    private func mesh(_ seed: UInt64 = 1) -> PeerMesh {
        var random = SplitMix64(seed: seed)
        let publicKey = random.bytes(91)
        return PeerMesh(
            own: PeerInfo(key: PeerKey(id: seed, publicKey: publicKey), name: "own", publicKey: publicKey),
            random: random)
    }

    /// Reads all output of a link. Returns the reason in its last BYE or DECLINE frame.
    private func reason(_ mesh: inout PeerMesh, _ link: LinkID, at now: Duration = .zero) -> PeerReason? {
        var reader = PeerFrameReader()
        var found: PeerReason?
        while let bytes = mesh.takeOutput(link, atMost: 1 << 20, at: now) { reader.append(bytes) }
        while let frame = try? reader.next() {
            if frame.type == .bye || frame.type == .decline { found = PeerBodies.reason(frame.payload) }
        }
        return found
    }

    @Test("3,000 links without HELLO: bounded in number and memory, closed after 5 s, and an honest peer gets in")
    func silentLinks() {
        var mesh = mesh()
        for index in 0..<3_000 {
            var attacker = HostilePeer(UInt64(index))
            attacker.address = [10, 0, UInt8(index % 200), UInt8(index % 3)]
            if let link = mesh.accepted(attacker.facts, at: .zero) {
                mesh.received(link, [UInt8](repeating: 1, count: 1), at: .zero)
            }
            while mesh.nextAction() != nil {}
        }
        #expect(mesh.linkCount <= 128)
        #expect(mesh.bufferedByteCount <= 128 * 4_200)
        let honest = HostilePeer(1 << 40)
        let link = mesh.accepted(honest.facts, at: .seconds(1))
        #expect(link != nil)
        mesh.advance(to: .seconds(6))
        mesh.advance(to: .seconds(7))
        #expect(mesh.linkCount == 0)
    }

    @Test("Links of one address are bounded; links of this host are exempt")
    func oneAddress() {
        var mesh = mesh()
        let accepted = (0..<100).count { mesh.accepted(HostilePeer(UInt64($0)).facts, at: .zero) != nil }
        #expect(accepted == 40)
        var local = HostilePeer(7).facts
        local.isLocal = true
        #expect(mesh.accepted(local, at: .zero) != nil)
    }

    @Test("A peer opens a bounded number of links")
    func linksOfOnePeer() {
        var mesh = mesh()
        let attacker = HostilePeer(3)
        var reasons: [PeerReason?] = []
        for _ in 0..<10 {
            guard let link = mesh.accepted(attacker.facts, at: .zero) else { continue }
            mesh.received(link, attacker.hello(), at: .zero)
            reasons.append(reason(&mesh, link))
        }
        #expect(reasons.count { $0 == nil } == 4)
        #expect(reasons.last == .tooMuch)
    }

    struct BadLink: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reason: PeerReason?
        let bytes: @Sendable () -> [UInt8]
    }

    static let badLinks: [BadLink] = [
        BadLink(testDescription: "a replayed HELLO", reason: .protocolViolation) {
            var other = HostilePeer(3)
            other = HostilePeer(3)
            var hello = Hello(peer: PeerInfo(key: other.key, name: "x", publicKey: other.publicKey), handle: .none)
            hello.proof = Hello.proof(exporter: [1, 2, 3], isDialler: true, handle: .none, publicKey: other.publicKey)
            return other.bytes(hello.frame)
        },
        BadLink(testDescription: "a reflected HELLO", reason: .protocolViolation) {
            HostilePeer(3).hello(isDialler: false)
        },
        BadLink(testDescription: "the HELLO of another key", reason: .protocolViolation) { HostilePeer(4).hello() },
        BadLink(testDescription: "a message first", reason: .protocolViolation) {
            HostilePeer(3).bytes(PeerFrame(.data, flags: .numbered))
        },
        BadLink(testDescription: "a lane with a foreign token", reason: .notVerified) {
            let fields = PeerFields().with(1, [UInt8](repeating: 1, count: 16)).with(
                2, [UInt8](repeating: 1, count: 16)
            ).with(3, [1])
            return HostilePeer(3).bytes(PeerFrame(.lane, fields: fields))
        },
        BadLink(testDescription: "an unknown type", reason: .protocolViolation) { [0x7E, 0, 0, 0, 0, 0, 0, 0] },
        BadLink(testDescription: "an extension, then PING", reason: .protocolViolation) {
            [0xFE, 0, 0, 0, 0, 0, 0, 1, 9, 0x30, 0, 0, 0, 0, 0, 0, 0]
        },
        BadLink(testDescription: "a HELLO of 4 GiB", reason: .tooMuch) { [1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF] },
        BadLink(testDescription: "Apple's first message", reason: .protocolViolation) {
            [0x07, 0xD0, 0, 0, 0, 0, 0, 20, 1, 2, 3]
        },
        BadLink(testDescription: "a message in the lobby", reason: .protocolViolation) {
            HostilePeer(3).hello() + HostilePeer(3).bytes(PeerFrame(.data, flags: .numbered))
        },
        BadLink(testDescription: "a datagram lane in the lobby", reason: .protocolViolation) {
            let offer = DatagramNotice.Offer(port: 9, token: [UInt8](repeating: 1, count: 16))
            return HostilePeer(3).hello() + HostilePeer(3).bytes(DatagramNotice.offer(offer).frame)
        },
        BadLink(testDescription: "two HELLO", reason: .protocolViolation) {
            HostilePeer(3).hello() + HostilePeer(3).hello()
        },
        BadLink(testDescription: "a good HELLO", reason: nil) { HostilePeer(3).hello() },
    ]

    @Test("Refused links end with their reason", arguments: badLinks)
    func refused(_ row: BadLink) {
        var mesh = mesh()
        guard let link = mesh.accepted(HostilePeer(3).facts, at: .zero) else {
            Issue.record("not accepted")
            return
        }
        mesh.received(link, row.bytes(), at: .zero)
        #expect(reason(&mesh, link) == row.reason)
        mesh.advance(to: .seconds(31))
        mesh.advance(to: .seconds(32))
        #expect(mesh.linkCount == 0)
    }

    @Test("Bytes after a malformed frame are not kept while the link says goodbye")
    func bytesAfterFailure() throws {
        var mesh = mesh()
        let accepted = mesh.accepted(HostilePeer(3).facts, at: .zero)
        let link = try #require(accepted)
        mesh.received(link, HostilePeer(3).hello() + [0x7E, 0, 0, 0, 0, 0, 0, 0], at: .zero)
        for _ in 0..<100 { mesh.received(link, [UInt8](repeating: 0x7E, count: 65_536), at: .zero) }
        #expect(mesh.linkCount == 1)
        #expect(mesh.bufferedByteCount == 0)
        let last = reason(&mesh, link)
        #expect(last == .protocolViolation)
    }

    /// Makes an attacker join a new session. Returns the attacker's link and membership.
    private func join(_ mesh: inout PeerMesh, _ attacker: HostilePeer) throws -> (link: LinkID, member: MemberID) {
        let session = mesh.openSession()
        let accepted = mesh.accepted(attacker.facts, at: .zero)
        let link = try #require(accepted)
        let invite = attacker.bytes(PeerBodies.invite(nil, timeout: .seconds(9)))
        mesh.received(link, attacker.hello() + invite, at: .zero)
        while let action = mesh.nextAction() {
            if case .invited(let id, _, _) = action { mesh.answer(id, with: session, at: .zero) }
        }
        mesh.received(link, attacker.bytes(PeerFrame(.certificate)) + attacker.bytes(PeerFrame(.certified)), at: .zero)
        while mesh.nextAction() != nil {}
        let member = MemberID(session, attacker.key)
        let isConnected = mesh.isConnected(member)
        try #require(isConnected)
        return (link, member)
    }

    @Test("A member that reads nothing cannot cause answers without end")
    func controlFlood() throws {
        var mesh = mesh()
        let attacker = HostilePeer(3)
        let (link, member) = try join(&mesh, attacker)
        let first: UInt16 = mesh.own.key < attacker.key ? 2 : 1
        var opens: [UInt8] = []
        for number in 0..<200 as Range<UInt16> {
            opens += attacker.bytes(PeerFrame(.streamOpen, flags: .numbered, channel: first + 2 * number))
        }
        var (blocks, end) = (0, PeerReason?.none)
        while blocks < 200, end == nil {
            blocks += 1
            mesh.received(link, opens, at: .zero)
            while let action = mesh.nextAction() {
                // This program releases each new stream at once, which resets the stream.
                if case .streamOpened(let channel, _) = action { mesh.releaseStream(channel, at: .zero) }
                if case .state(member, _, .notConnected(let reason)) = action { end = reason }
            }
        }
        #expect(end == .tooMuch && blocks < 100)
    }

    @Test("A member that reads nothing cannot cause answers without end over a resource lane")
    func laneFlood() throws {
        var mesh = mesh()
        let attacker = HostilePeer(3)
        let (link, member) = try join(&mesh, attacker)
        let number: UInt16 = mesh.own.key < attacker.key ? 2 : 1
        let (accepted, own) = (mesh.accepted(attacker.facts, at: .zero), mesh.handle(of: member.session))
        let (lane, handle) = (try #require(accepted), try #require(own))
        let token = PeerDigest.hmac(key: attacker.exporter, Array("cw-peers/1 lane".utf8) + attacker.exporter)
        let fields = PeerFields().with(1, handle.bytes).with(2, [UInt8](repeating: 5, count: 16)).with(3, token)
        mesh.received(lane, attacker.bytes(PeerFrame(.lane, fields: fields)), at: .zero)
        mesh.received(link, attacker.bytes(PeerFrame(.offer, flags: .numbered, channel: number)), at: .zero)
        while let action = mesh.nextAction() {
            if case .resourceOffered(let channel, _) = action { mesh.fetch(channel, at: .zero) }
        }
        var (count, end) = (UInt64(0), PeerReason?.none)
        while count < 20_000, end == nil {
            var parts: [UInt8] = []
            for position in count..<count + 100 {
                // Send the next byte of the file, and then a byte after a gap. The receiver replies to the byte after
                // the gap with a GET frame.
                parts += part(position, of: number, attacker) + part(position + 2, of: number, attacker)
            }
            mesh.received(lane, parts, at: .zero)
            count += 100
            while let action = mesh.nextAction() {
                if case .state(member, _, .notConnected(let reason)) = action { end = reason }
            }
        }
        #expect(end == .tooMuch && count < 17_000)
    }

    private func part(_ position: UInt64, of number: UInt16, _ attacker: HostilePeer) -> [UInt8] {
        let offset = (0..<8).map { UInt8(truncatingIfNeeded: position >> (56 - 8 * $0)) }
        return attacker.bytes(PeerFrame(.part, channel: number, payload: offset + [7]))
    }

    @Test("A member that reads nothing has one acknowledgment in its queue")
    func acknowledgments() throws {
        var mesh = mesh()
        let attacker = HostilePeer(3)
        let (link, member) = try join(&mesh, attacker)
        while mesh.takeOutput(link, atMost: 1 << 20, at: .zero) != nil {}
        let message = attacker.bytes(PeerFrame(.data, flags: .numbered))
        for round in 1...100 {
            let now = Duration.milliseconds(round)
            mesh.received(link, Array([[UInt8]](repeating: message, count: 32).joined()), at: now)
            mesh.advance(to: now)
            while mesh.nextAction() != nil {}
        }
        var reader = PeerFrameReader()
        while let bytes = mesh.takeOutput(link, atMost: 1 << 20, at: .milliseconds(100)) { reader.append(bytes) }
        var payloads: [[UInt8]] = []
        while let frame = try reader.next() {
            if frame.type == .acknowledgment { payloads.append(frame.payload) }
        }
        let counts = try payloads.map { try PeerFields($0).integer(1, as: UInt64.self) }
        #expect(counts == [3_200])
        let isConnected = mesh.isConnected(member)
        #expect(isConnected)
    }

    @Test("A member that announces peers and takes them back causes at most 128 attempts in 10 s")
    func announcements() throws {
        var mesh = mesh()
        let attacker = HostilePeer(3)
        let (link, _) = try join(&mesh, attacker)
        let handle = try #require(SessionHandle([UInt8](repeating: 7, count: 16)))
        var dials: [Int] = []
        for second in [0, 1, 11] {
            var count = 0
            for id in 1_000..<1_500 as Range<UInt64> {
                let key = PeerKey(id: id, high: id, low: UInt64(second))
                let entry = RosterEntry(key: key, name: "", handle: handle, endpoints: [])
                let fields = PeerFields().with(1, id).with(2, key.digestBytes).with(3, handle.bytes)
                let introduction = PeerFrame(.introduce, flags: .numbered, payload: entry.fields.bytes)
                let end = PeerFrame(.gone, flags: .numbered, payload: fields.with(4, 0 as UInt8).bytes)
                mesh.received(link, attacker.bytes(introduction) + attacker.bytes(end), at: .seconds(second))
                while let action = mesh.nextAction() {
                    if case .dial = action { count += 1 }
                }
            }
            dials.append(count)
        }
        #expect(dials == [128, 0, 128])
    }

    @Test("A changed key of a known peer is refused")
    func changedKey() {
        var mesh = mesh()
        let attacker = HostilePeer(3)
        mesh.pin(PeerKey(id: attacker.key.id, high: 1, low: 2))
        guard let link = mesh.accepted(attacker.facts, at: .zero) else { return }
        mesh.received(link, attacker.hello(), at: .zero)
        #expect(reason(&mesh, link) == .identityChanged)
    }
}
