import CausewayTestKit
import DequeModule
import Testing

@testable import CausewayPeerProtocols

@Suite("Machines of CWP/1")
struct PeerMachineTests {
    private func key(_ id: UInt64) -> PeerKey { PeerKey(id: id, high: id, low: 0) }

    // Codec

    @Test("HELLO, members and connection data are decoded as they were encoded")
    func bodies() throws {
        var hello = Hello(
            peer: PeerInfo(key: PeerKey(id: 9, publicKey: [4, 5]), name: "Ann", publicKey: [4, 5], agent: "a"),
            handle: .none)
        hello.target = Hello.Target(
            handle: SessionHandle(high: 1, low: 2), received: 7, token: [UInt8](repeating: 1, count: 16))
        hello.port = 99
        hello.addresses = [[1, 2, 3, 4]]
        hello.proof = [1]
        #expect(try Hello(hello.frame.payload) == hello)
        let endpoints = [PeerEndpoint(address: [1, 2, 3, 4], port: 5)].compactMap { $0 }
        let entry = RosterEntry(key: key(3), name: "B", handle: SessionHandle(high: 4, low: 5), endpoints: endpoints)
        #expect(try RosterEntry.roster(RosterEntry.rosterFrame([entry, entry], epoch: 1).payload) == [entry, entry])
        let data = ConnectionData(entry: entry, token: [UInt8](repeating: 2, count: 16))
        #expect(try ConnectionData(data.bytes) == data)
    }

    @Test("A context of 64 KiB takes two fields; more is refused")
    func context() throws {
        let context = [UInt8](repeating: 3, count: 64 << 10)
        let frame = PeerBodies.invite(context, timeout: .seconds(4))
        #expect(try PeerBodies.context(frame.payload) == context)
        #expect(try PeerBodies.timeout(frame.payload) == .seconds(4))
        #expect(try PeerBodies.context(PeerBodies.invite(nil, timeout: .zero).payload) == nil)
        #expect(throws: PeerFields.Malformed.self) {
            try PeerBodies.context(
                PeerFields().with(1, [UInt8](repeating: 0, count: 40_000)).with(1, [UInt8](repeating: 0, count: 40_000))
                    .bytes)
        }
    }

    @Test("The longest time limit that a program can give fits into any time and any frame")
    func longestLimit() throws {
        let longest = Duration.seconds(Int64.max) * 18
        for now in [.zero - longest, .zero, .seconds(Int64.max)] {
            #expect(PeerTimes.end(of: longest, from: now) == now + PeerTimes.longestLimit)
            #expect(PeerTimes.end(of: .zero - longest, from: now) == now)
        }
        for limit in [longest, .seconds(Int64.max), .seconds(300)] {
            #expect(try PeerBodies.timeout(PeerBodies.invite(nil, timeout: limit).payload) == .seconds(300))
        }
        #expect(try PeerBodies.timeout(PeerBodies.invite(nil, timeout: .zero - longest).payload) == .zero)
    }

    @Test("HMAC-SHA256 of RFC 4231 §4.2 and §4.7")
    func authentication() {
        let first = PeerDigest.hmac(key: [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8))
        #expect(first.prefix(4) == [0xB0, 0x34, 0x4C, 0x61])
        let long = PeerDigest.hmac(
            key: [UInt8](repeating: 0xAA, count: 131),
            Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8))
        #expect(long.prefix(4) == [0x60, 0xE4, 0x31, 0x59])
    }

    @Test(
        "Names of resources are reduced to their last component",
        arguments: [
            ("../../etc/passwd", "passwd"), ("a\\b.txt", "b.txt"), ("..", "file"), ("", "file"), ("x\u{7}y", "xy"),
            ("dir/", "dir"),
        ])
    func names(given: String, expected: String) { #expect(ResourceOffer.safeName(given) == expected) }

    // Queues

    @Test("A busy channel does not delay the others by more than its quantum")
    func scheduler() {
        var scheduler = LaneScheduler<Int>()
        var rest = [0: 100, 1: 3]
        scheduler.activate(0)
        scheduler.activate(1)
        var order: [Int] = []
        while let next = scheduler.next(size: { rest[$0] == 0 ? nil : 16_000 }) {
            rest[next]? -= 1
            order.append(next)
        }
        #expect(order.count == 103)
        #expect(order.prefix(6).count { $0 == 1 } == 3)
    }

    @Test("The log sends again exactly what the peer has not received")
    func log() {
        var log = NumberedLog()
        for number in 0..<5 as Range<UInt16> { log.append(PeerFrame(.data, channel: number)) }
        let acknowledged = [log.acknowledge(2), log.acknowledge(6)]
        #expect(acknowledged == [true, false])
        let resumed = [log.resume(from: 1), log.resume(from: 3)]
        #expect(resumed == [false, true])
        var again: [UInt16] = []
        while let frame = log.nextReplay() { again.append(frame.channel) }
        #expect(again == [3, 4])
        let isAcknowledged = log.acknowledge(5)
        #expect(isAcknowledged && log.byteCount == 0)
    }

    @Test("A program that takes no messages stops its peer at 4 MiB, and starts it again")
    func credit() {
        let member = MemberID(SessionID(1), key(2))
        var (sender, receiver) = (
            MemberTraffic(member: member, isOdd: true), MemberTraffic(member: member, isOdd: false)
        )
        var network = TrafficPair()
        for _ in 0..<100 {
            #expect(sender.send([UInt8](repeating: 0, count: 100_000), reliably: true, limit: 64 << 20) == .queued)
        }
        network.exchange(&sender, &receiver)
        let received = network.messageBytes
        #expect((3 << 20)...(5 << 20) ~= received)
        for _ in 0..<20 {
            for size in network.takeMessages() { receiver.queue.consumed(size, at: network.now) }
            network.exchange(&sender, &receiver)
        }
        #expect(network.total == 10_000_000)
    }

    @Test("A program that takes no messages stops a peer that sends empty ones too, and starts it again")
    func emptyMessages() {
        let member = MemberID(SessionID(1), key(2))
        var (sender, receiver) = (
            MemberTraffic(member: member, isOdd: true), MemberTraffic(member: member, isOdd: false)
        )
        var network = TrafficPair()
        let limit = PeerLimits.window / PeerLimits.messageOverhead
        for _ in 0..<(limit + 100) { _ = sender.send([], reliably: true, limit: 64 << 20) }
        network.exchange(&sender, &receiver)
        let held = network.takeMessages()
        #expect(held.count == limit && sender.awaitsAcknowledgment)
        for size in held { receiver.queue.consumed(size, at: network.now) }
        network.exchange(&sender, &receiver)
        #expect(network.takeMessages().count == 100 && !sender.awaitsAcknowledgment)
    }

    @Test("A peer that sends more empty messages than its credit permits is refused")
    func tooManyEmptyMessages() {
        var receiver = MemberTraffic(member: MemberID(SessionID(1), key(2)), isOdd: true)
        var actions: Deque<PeerAction> = []
        let message = PeerFrame(.data, flags: .numbered)
        let limit = PeerLimits.window / PeerLimits.messageOverhead
        var reason: PeerReason?
        do throws(PeerReason) {
            for _ in 0...limit { _ = try receiver.received(message, at: .zero, &actions) }
        } catch {
            reason = error
        }
        #expect(reason == .tooMuch && actions.count == limit)
    }

    @Test("An acknowledgment is due 50 ms after a frame, and at once after a resumption, at any reading of the clock")
    func acknowledgmentTime() {
        var queue = ReliableQueue()
        queue.frameArrived(100, at: .seconds(-9))
        #expect(queue.deadline == .milliseconds(-8_950))
        #expect(queue.resume(from: 0, at: .seconds(-9)) && queue.deadline == .seconds(-9))
        #expect(queue.takeActions(dueAt: .seconds(-9)).map(\.type) == [.acknowledgment] && queue.deadline == nil)
        let isPossible = queue.resume(from: 1, at: .seconds(-8))
        #expect(!isPossible)
    }

    // The following tests check streams.

    @Test("Streams that a peer has ended count and keep their numbers until the program has released them")
    func unreleasedStreams() throws {
        var table = StreamTable(isOdd: true)
        for number in 1...UInt16(PeerLimits.streams) {
            let end = PeerFrame(number % 2 == 0 ? .streamEnd : .streamReset, channel: 2 * number)
            let events = try [table.received(PeerFrame(.streamOpen, channel: 2 * number)), table.received(end)]
            try #require(events.count { $0 != nil } == 2)
        }
        let excess = try table.received(PeerFrame(.streamOpen, channel: 2 * UInt16(PeerLimits.streams) + 2))
        #expect(excess == .violation(.tooMuch))
        let taken = try table.received(PeerFrame(.streamOpen, channel: 2))
        #expect(taken == .violation(.protocolViolation))
        let frames = [table.release(2), table.release(2)]
        #expect(frames == [PeerFrame(.streamEnd, channel: 2), nil])
        let next = try table.received(PeerFrame(.streamOpen, channel: 2))
        #expect(next == .opened(2, name: ""))
        let lost = table.removeAll()
        #expect(lost == [2])
    }

    @Test("A frame without bytes of a stream is no event")
    func emptyStreamFrame() throws {
        var table = StreamTable(isOdd: true)
        _ = try table.received(PeerFrame(.streamOpen, channel: 2))
        let events = try [
            table.received(PeerFrame(.streamData, channel: 2)),
            table.received(PeerFrame(.streamData, channel: 2, payload: [1])),
        ]
        #expect(events == [nil, .bytes(2, [1])])
    }

    @Test("A peer cannot release a stream that has not ended")
    func earlyRelease() throws {
        var table = StreamTable(isOdd: true)
        let opened = table.open()
        let number = try #require(opened)
        let early = try table.received(PeerFrame(.streamEnd, channel: number))
        #expect(early == .violation(.protocolViolation))
    }

    // Tests of resource transfers

    @Test("A sender cannot offer and cancel without end while the program takes no events")
    func untakenResources() throws {
        var table = ResourceTransfer(isOdd: true)
        let (offer, cancel) = (PeerFrame(.offer, channel: 2), PeerFrame(.cancel, channel: 2))
        for _ in 0..<PeerLimits.offers { _ = try (table.received(offer), table.received(cancel)) }
        _ = try table.received(offer)
        let early = table.fetch(2, from: 7)
        #expect(early == nil)
        let fields = PeerFields().with(1, 7 as UInt64).with(2, UInt64(PeerLimits.resourceWindow) + 7)
        let late = table.endTaken()
        #expect(late == [PeerFrame(.get, channel: 2, fields: fields)])
        // A second call does not request the bytes again.
        let again = table.endTaken()
        #expect(again == [])
        var count = 0
        while count < 2_000, try table.received(PeerFrame(.offer, channel: 4)) != [.violation(.tooMuch)] {
            _ = try table.received(PeerFrame(.cancel, channel: 4))
            count += 1
        }
        #expect(count == PeerLimits.endedOffers - PeerLimits.offers + 2)
    }

    // Verification

    @Test("After codes that do not match, no further comparison begins")
    func failedVerification() throws {
        let exporter = [UInt8](repeating: 7, count: 32)
        var one = VerificationMachine(.init(exporter: exporter, own: key(1), other: key(2)))
        var other = VerificationMachine(.init(exporter: exporter, own: key(2), other: key(1)))
        let nonce = [UInt8](repeating: 1, count: VerificationMachine.nonceByteCount)
        let commit = try #require(one.start(nonce: nonce).first?.frame)
        let answer = try #require(other.received(commit, nonce: nonce).first?.frame)
        let steps = try one.received(answer, nonce: nonce)
        #expect(steps.count == 2 && one.isActive && !one.hasEnded)
        let result = one.confirm(matches: false)
        #expect(result == [.send(PeerFrame(.sasResult, fields: PeerFields().with(1, 0 as UInt8))), .report(.failed)])
        let more = try one.start(nonce: nonce) + one.received(commit, nonce: nonce) + one.confirm(matches: true)
        #expect(more.isEmpty && one.hasEnded && !one.isActive)
    }

    // Tests of the link state machine

    @Test("Time in which this side did not run does not count as silence, up to 9.5 s")
    func lateAlarms() {
        // This side was suspended from 6.5 s to 12 s. Data that arrived during the suspension can still be read.
        var keepalive = Keepalive(at: .zero, asksFirst: true)
        for tenth in [60, 65] { #expect(keepalive.advance(to: .milliseconds(tenth * 100)).count == 1) }
        #expect(keepalive.advance(to: .seconds(13)) == [.ping])
        #expect(keepalive.deadline == .seconds(14))
        var heard = keepalive
        heard.heard(at: .seconds(13))
        #expect(heard.deadline == .seconds(19) && heard.advance(to: .seconds(14)).isEmpty)
        #expect(keepalive.advance(to: .seconds(14)) == [.lost])
        // A busy process may call every timer late. The keepalive machine still reports that the peer is gone.
        var busy = Keepalive(at: .zero, asksFirst: false)
        var now = Duration.zero
        while let deadline = busy.deadline, now < .seconds(60) {
            now = deadline + .seconds(2)
            _ = busy.advance(to: now)
        }
        #expect(now <= .seconds(22) && busy.hasEnded)
    }

    @Test("After a peer or a datagram lane is lost, late bytes change nothing and no time is awaited")
    func lostIsFinal() {
        var keepalive = Keepalive(at: .zero, asksFirst: true)
        #expect(keepalive.advance(to: .seconds(100)) == [.lost])
        keepalive.heard(at: .seconds(100))
        keepalive.probe(at: .seconds(100))
        #expect(keepalive.hasEnded && keepalive.deadline == nil && keepalive.advance(to: .seconds(200)).isEmpty)
        var lane = LaneWatch(probesWhenIdle: true, at: .zero)
        lane.sent(at: .zero)
        #expect(lane.advance(to: .milliseconds(500)) == [.probe] && lane.deadline == .seconds(1))
        #expect(lane.advance(to: .seconds(5)) == [.lost])
        lane.heard(at: .seconds(5))
        lane.sent(at: .seconds(5))
        lane.probe(at: .seconds(5))
        #expect(lane.hasEnded && lane.deadline == nil && lane.advance(to: .seconds(100)).isEmpty)
    }

    @Test(
        "A silent peer: PING from the dialler after 6 s, from the other side after 6.5 s; lost after 9.5 s",
        arguments: [(true, ["ping 60", "suspect 65", "lost 95"]), (false, ["ping 65", "suspect 65", "lost 95"])])
    func keepalive(asksFirst: Bool, expected: [String]) {
        var keepalive = Keepalive(at: .zero, asksFirst: asksFirst)
        var alarms: [String] = []
        for tenth in 0...100 {
            let now = Duration.milliseconds(tenth * 100)
            for alarm in keepalive.advance(to: now) { alarms.append("\(alarm) \(tenth)") }
        }
        #expect(alarms == expected)
    }

    // Tests for invitations

    @Test("One invitation of a peer is asked at a time, and it is answered once")
    func questions() throws {
        var machine = InvitationMachine()
        let pending = InvitationMachine.Pending(
            link: LinkID(1), peer: PeerInfo(key: key(2), name: ""), context: nil, address: nil)
        guard case .ask(let id) = machine.arrived(pending, limit: 16, limitPerAddress: 3) else {
            Issue.record("it is not asked")
            return
        }
        #expect(machine.asked(from: key(2)) == id && machine.isAsked(id))
        #expect(machine.arrived(pending, limit: 16, limitPerAddress: 3) == .refuse(.duplicate))
        #expect(machine.answered(id) == pending)
        #expect(machine.answered(id) == nil && machine.removed(LinkID(1)) == nil && machine.count == 0)
    }
}

extension VerificationMachine.Action {
    fileprivate var frame: PeerFrame? { if case .send(let frame) = self { frame } else { nil } }
}

/// Simulates the two sides of a peer connection. The sides exchange frames directly, without a network link.
private struct TrafficPair {
    private(set) var now: Duration = .zero
    private var sizes: [Int] = []
    private(set) var total = 0

    /// The total size in bytes of the messages that the program has not consumed.
    var messageBytes: Int { sizes.reduce(0, +) }

    /// Returns the sizes of the messages that the program holds, and removes them from the record.
    mutating func takeMessages() -> [Int] {
        defer { sizes = [] }
        return sizes
    }

    mutating func exchange(_ one: inout MemberTraffic, _ other: inout MemberTraffic) {
        for _ in 0..<100 {
            now += .milliseconds(60)
            move(&one, &other)
            move(&other, &one)
        }
    }

    private mutating func move(_ from: inout MemberTraffic, _ to: inout MemberTraffic) {
        var actions: Deque<PeerAction> = []
        while let frame = from.nextFrame(at: now, &actions) { _ = try? to.received(frame, at: now, &actions) }
        for action in actions {
            guard case .message(_, let bytes, _) = action else { continue }
            sizes.append(bytes.count)
            total += bytes.count
        }
    }
}
