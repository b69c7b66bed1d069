internal import CausewayPeerProtocols
internal import CausewayTestKit
internal import CausewayTypes
internal import FoundationEssentials

extension Exercise {
    /// Splits bytes into frames of CWP/1, and decodes their bodies. Checks that the result does not depend on how the input is split, and
    /// that a decoded value is encoded to an equal value.
    ///
    /// - Returns: The number of frames.
    @discardableResult
    public static func peerFrames(_ bytes: [UInt8]) -> Int {
        var random = SplitMix64(seed: UInt64(bytes.first ?? 0))
        let input = Array(bytes.dropFirst())
        let whole = frames(input, { .max })
        let pieces = frames(input, { random.integer(in: 1...20) })
        check(whole == pieces)
        for frame in whole { checkBody(frame) }
        return whole.count
    }

    private static func frames(_ bytes: [UInt8], _ nextCount: () -> Int) -> [PeerFrame] {
        var reader = PeerFrameReader()
        var found: [PeerFrame] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(nextCount())
            rest = rest.dropFirst(piece.count)
            reader.append(piece)
            do {
                while let frame = try reader.next() { found.append(frame) }
            } catch {
                return found
            }
        }
        return found
    }

    private static func checkBody(_ frame: PeerFrame) {
        var written: [UInt8] = []
        frame.serialize(into: &written)
        var reader = PeerFrameReader()
        reader.append(written)
        check((try? reader.next()) == frame)
        if let hello = try? Hello(frame.payload) { check((try? Hello(hello.frame.payload)) == hello) }
        if let entries = try? RosterEntry.roster(frame.payload) {
            check((try? RosterEntry.roster(RosterEntry.rosterFrame(entries, epoch: 1).payload)) == entries)
        }
        if let data = try? ConnectionData(frame.payload) { check((try? ConnectionData(data.bytes)) == data) }
        if let notice = try? DatagramNotice(frame.payload) {
            check((try? DatagramNotice(notice.frame.payload)) == notice)
        }
        _ = try? PeerBodies.context(frame.payload)
        _ = PeerBodies.reason(frame.payload)
    }

    /// Decodes bytes as the TXT record of an unknown peer, as a browser does. Encodes the result, and checks that
    /// decoding it again gives an equal value.
    ///
    /// - Returns: Whether the record belongs to a peer.
    @discardableResult
    public static func peerRecord(_ bytes: [UInt8]) -> Bool {
        guard let announcement = PeerAnnouncement(NWTXTRecord(Data(bytes))) else { return false }
        let record = announcement.record
        check(PeerAnnouncement(record) == announcement && PeerAnnouncement(NWTXTRecord(record.data)) == announcement)
        check(announcement.instance.utf8.count == 16)
        return true
    }

    /// Parses bytes as the texts of pairings and of recorded keys. Checks that a parsed value can be written as text
    /// and parsed to an equal value.
    @discardableResult
    public static func peerTexts(_ bytes: [UInt8]) -> Bool {
        var isRead = false
        let text = String(decoding: bytes, as: UTF8.self)
        for text in [text, "CAUSEWAY-PEER:1/\(text)"] {
            guard let pairing = try? PairingText(text) else { continue }
            check((try? PairingText(pairing.text)) == pairing)
            isRead = true
        }
        for bytes in [bytes, Array("causeway-pin 1\n".utf8) + bytes] {
            guard let entry = try? PinEntry(bytes) else { continue }
            check((try? PinEntry(Array(entry.text.utf8))) == entry)
            isRead = true
        }
        return isRead
    }

    /// Runs a mesh whose links send a correct HELLO and then arbitrary frames. The number of links and the memory must
    /// be bounded. Each member's last state must be `notConnected`.
    ///
    /// - Returns: The number of actions.
    @discardableResult
    public static func peerMesh(_ bytes: [UInt8]) -> Int {
        var subject = PeerMeshSubject()
        var choices = Choices(bytes)
        while !choices.isEmpty { subject.step(&choices) }
        return subject.finish()
    }
}

/// A mesh whose other peers are hostile.
private struct PeerMeshSubject: ~Copyable {
    private var mesh: PeerMesh
    private let session: SessionID
    private var now: Duration = .zero
    private var links: [LinkID] = []
    private var lanes: [DatagramLaneID] = []
    private var peers: [(key: PeerKey, publicKey: [UInt8])] = []
    private var members: Set<MemberID> = []
    private var invitations: [InvitationID] = []
    private var actionCount = 0
    private let exporter = [UInt8](repeating: 7, count: 32)

    init() {
        let publicKey: [UInt8] = [4, 1, 2]
        mesh = PeerMesh(
            own: PeerInfo(key: PeerKey(id: 1, publicKey: publicKey), name: "own", publicKey: publicKey),
            random: SplitMix64(seed: 1))
        session = mesh.openSession()
        for id in 2..<6 as Range<UInt8> { peers.append((PeerKey(id: UInt64(id), publicKey: [4, id]), [4, id])) }
    }

    mutating func step(_ choices: inout Exercise.Choices) {
        let peer = peers[choices.next(below: peers.count)]
        let member = MemberID(session, peer.key)
        switch choices.next(below: 15) {
        case 0: accept(peer, choices.next())
        // Invite one of the peers with the longest possible timeout, so that its invitation never expires.
        case 1: mesh.invite(member, name: "", timeout: .seconds(peer.key == peers[3].key ? Int64.max : 5), at: now)
        case 2: now += .milliseconds(Int(choices.next()) * 20)
        case 3: if let link = pick(&choices) { mesh.linkEnded(link, .failed, at: now) }
        case 4: _ = mesh.send(choices.take(4), to: member, reliably: true, at: now)
        case 5:
            if let channel = mesh.openStream("", to: member, at: now) {
                _ = mesh.write(channel, choices.take(9), at: now)
            }
        case 12:
            mesh.showPairing(choices.take(16), until: now + .seconds(1))
            _ = mesh.expectPairing(of: peer.key, [1], until: now + .seconds(1), at: now)
        case 9: connect(member, &choices)
        case 6: _ = mesh.offer(ResourceOffer(name: "f", size: 5), to: member, at: now)
        case 7, 8: if !lanes.isEmpty { datagrams(lanes[choices.next(below: lanes.count)], &choices) }
        default: if let link = pick(&choices) { frame(link, &choices) }
        }
        mesh.advance(to: now)
        settle()
    }

    /// Connects to a peer. The connection data comes from that peer, or consists of arbitrary bytes.
    private mutating func connect(_ member: MemberID, _ choices: inout Exercise.Choices) {
        let handle = SessionHandle([UInt8](repeating: 3, count: 16)) ?? .none
        let entry = RosterEntry(key: member.peer, name: "", handle: handle, endpoints: [])
        var data = ConnectionData(entry: entry, token: [UInt8](repeating: 1, count: 16)).bytes
        if choices.next() & 1 != 0 { data = choices.take(40) }
        _ = mesh.connect(session, to: member.peer.id, data: data, timeout: .seconds(2), at: now)
        _ = mesh.connectionData(session, for: member.peer.id)
    }

    private func pick(_ choices: inout Exercise.Choices) -> LinkID? {
        links.isEmpty ? nil : links[choices.next(below: links.count)]
    }

    /// Reports an event for a datagram connection, in any of its states.
    private mutating func datagrams(_ lane: DatagramLaneID, _ choices: inout Exercise.Choices) {
        switch choices.next(below: 7) {
        case 0: mesh.datagramsListening(lane, on: UInt16(choices.next()), at: now)
        case 1: mesh.datagramsReady(lane, limit: Int(choices.next()), at: now)
        case 2: mesh.datagramsEnded(lane, .notVerified, at: now)
        case 3: mesh.datagramsRefused(lane, .notVerified, at: now)
        case 4: mesh.datagramSent(lane, Int(choices.next()), at: now)
        default: mesh.datagramArrived(lane, choices.take(Int(choices.next() & 15)), at: now)
        }
    }

    private mutating func accept(_ peer: (key: PeerKey, publicKey: [UInt8]), _ kind: UInt8) {
        let facts = LinkFacts(exporter: exporter, fingerprint: peer.key.digestBytes, address: [10, 0, 0, kind & 3])
        guard let link = mesh.accepted(facts, at: now) else { return }
        links.append(link)
        greet(link, peer, isDialler: true, kind)
        if kind & 8 != 0 { write(PeerBodies.invite([1], timeout: .seconds(9)), link) }
        if kind & 16 != 0 { write(PeerFrame(.certificate), link) }
        if kind & 32 != 0 { write(PeerFrame(.certified), link) }
    }

    private mutating func greet(
        _ link: LinkID, _ peer: (key: PeerKey, publicKey: [UInt8]), isDialler: Bool, _ kind: UInt8
    ) {
        let handle = SessionHandle([UInt8](repeating: 3, count: 16)) ?? .none
        var hello = Hello(peer: PeerInfo(key: peer.key, name: "", publicKey: peer.publicKey), handle: handle)
        if kind & 4 != 0, let target = mesh.handle(of: session) {
            hello.target = Hello.Target(handle: target, received: kind & 64 != 0 ? UInt64(kind & 3) : nil)
        }
        hello.proof = Hello.proof(exporter: exporter, isDialler: isDialler, handle: handle, publicKey: peer.publicKey)
        if kind & 128 != 0 { hello.pairing = [kind] }
        write(hello.frame, link)
    }

    private mutating func frame(_ link: LinkID, _ choices: inout Exercise.Choices) {
        let types = PeerFrameType.allCases
        let type = types[choices.next(below: types.count)]
        var flags: PeerFrameFlags = type.isNumbered ? .numbered : []
        let shape = choices.next()
        if shape & 1 != 0 { flags.insert(.more) }
        let channel = UInt16(shape >> 1 & 7)
        var payload = choices.take(Int(choices.next() & 31))
        if type == .udp, shape & 2 != 0 {
            let token = [UInt8](repeating: shape >> 4, count: 16)
            payload = DatagramNotice.offer(.init(port: 9, token: token)).frame.payload
        } else if shape & 64 != 0 {
            let handle = mesh.handle(of: session)?.bytes ?? []
            payload =
                PeerFields().with(1, shape & 128 != 0 ? handle : Array(payload.prefix(8))).with(
                    2, Array(payload.suffix(8))
                ).bytes
        }
        write(PeerFrame(type, flags: flags, channel: channel, payload: payload), link)
    }

    private mutating func write(_ frame: PeerFrame, _ link: LinkID) {
        var bytes: [UInt8] = []
        frame.serialize(into: &bytes)
        mesh.received(link, bytes, at: now)
        settle()
    }

    private mutating func settle() {
        while let action = mesh.nextAction() {
            actionCount += 1
            switch action {
            case .dial(let link, let dial): dialed(link, dial)
            case .output(let link): take(link)
            case .close(let link): links.removeAll { $0 == link }
            case .listenDatagrams(let lane, _, _), .dialDatagrams(let lane, _, _, _): lanes.append(lane)
            case .closeDatagrams(let lane): lanes.removeAll { $0 == lane }
            case .invited(let id, _, _): mesh.answer(id, with: actionCount % 3 == 0 ? nil : session, at: now)
            case .state(let member, _, let state): note(member, state)
            case .message(let member, let bytes, let isReliable):
                mesh.consumed(bytes.count, from: member, isReliable: isReliable, at: now)
            case .resourceOffered(let channel, _): mesh.fetch(channel, at: now)
            case .resourceWanted(let channel, _, let count):
                mesh.provide(channel, [UInt8](repeating: 1, count: min(5, count)), isLast: true, at: now)
            case .resourceComplete(let channel, _):
                mesh.stored(channel, at: now)
                if actionCount % 2 == 0 { mesh.resourceTaken(channel, at: now) }
            case .streamEnded(let channel), .streamFailed(let channel, _): mesh.releaseStream(channel, at: now)
            default: break
            }
        }
        Exercise.check(mesh.datagramLaneCount <= 8 && lanes.count == mesh.datagramLaneCount, "\(lanes.count) lanes")
        Exercise.check(mesh.linkCount <= 200 && mesh.bufferedByteCount <= 200 * (65 << 10))
    }

    private mutating func dialed(_ link: LinkID, _ dial: PeerDial) {
        guard let peer = peers.first(where: { $0.key == dial.peer }), actionCount % 4 != 0 else {
            return mesh.dialFailed(link, at: now)
        }
        links.append(link)
        mesh.dialSucceeded(link, LinkFacts(exporter: exporter, fingerprint: peer.key.digestBytes), at: now)
        if dial.purpose != .lane { greet(link, peer, isDialler: false, 0) }
    }

    private mutating func take(_ link: LinkID) {
        var reader = PeerFrameReader()
        while let bytes = mesh.takeOutput(link, atMost: 1000, at: now) { reader.append(bytes) }
        do {
            while try reader.next() != nil {}
        } catch {
            Exercise.check(false, "the output is invalid")
        }
    }

    private mutating func note(_ member: MemberID, _ state: MemberState) {
        if case .notConnected = state { members.remove(member) } else { members.insert(member) }
    }

    mutating func finish() -> Int {
        mesh.shutDown(at: now)
        settle()
        for _ in 0..<4 {
            now += .seconds(1)
            mesh.advance(to: now)
            settle()
        }
        Exercise.check(
            members.isEmpty && mesh.linkCount == 0 && lanes.isEmpty,
            "\(members.count) members, \(mesh.linkCount) links, \(lanes.count) lanes are left")
        return actionCount
    }
}
