import CausewayProtocols
import CausewayTestKit
import CausewayTypes
import CausewayWire
import Testing

@Suite("Protocol stack")
struct ProtocolStackTests {
    private static func webSocket(_ isServer: Bool, seed: UInt64) -> WebSocketStage {
        var configuration = WebSocketMachine.Configuration()
        configuration.fragmentSize = 1000
        configuration.repliesToPings = true
        return WebSocketStage(
            WebSocketMachine(
                isServer ? .server : .client(UpgradeRequest(authority: "h")), configuration: configuration,
                random: SplitMix64(seed: seed)))
    }

    static func webSocketPair(keepsLog: Bool = false, seed: UInt64 = 1) -> StackPair {
        StackPair(
            StackEnd([RecordStage(), webSocket(false, seed: 1)], framers: [nil, nil]),
            StackEnd([RecordStage(limit: 300), webSocket(true, seed: 2)], framers: [nil, nil]), seed: seed,
            keepsLog: keepsLog)
    }

    static func framerPair(seed: UInt64 = 1) -> StackPair {
        func end() -> StackEnd {
            StackEnd(
                [FramerStage(), FramerStage()], framers: [EscapeFramer(), LengthFramer(usesHandshake: true)])
        }
        return StackPair(end(), end(), seed: seed)
    }

    /// Sends messages from one end to the other end, which reads them at random times.
    private func transfer(_ count: Int, over pair: inout StackPair, metadata: [any StageMetadata]) {
        var random = SplitMix64(seed: 99)
        var expected: [[UInt8]] = []
        var sent = 0
        var steps = 0
        while pair.ends[1].messages.count < count, steps < 4_000_000, pair.ends.allSatisfy({ $0.failure == nil }) {
            steps += 1
            while sent < count, pair.ends[0].stack.outboundRoom > 0 {
                let length = random.chance(oneIn: 200) ? random.integer(in: 0...20_000) : random.integer(in: 0...120)
                let bytes =
                    [UInt8](repeating: UInt8(sent & 255), count: length / 2) + random.bytes(length - length / 2)
                expected.append(bytes)
                sent += 1
                // Send some messages in two parts.
                let cut = random.chance(oneIn: 10) ? length / 3 : 0
                if cut > 0 { pair.ends[0].send(Array(bytes[..<cut]), metadata: metadata, endsMessage: false) }
                pair.ends[0].send(Array(bytes[cut...]), metadata: metadata)
                if random.chance(oneIn: 4) { break }
            }
            pair.step()
            if random.chance(oneIn: 3) { while pair.ends[1].read(atMost: random.integer(in: 1...5000)) {} }
        }
        #expect(pair.ends[1].messages.count == count)
        #expect(pair.ends[1].messages == expected)
        #expect(pair.ends.allSatisfy { $0.failure == nil && !$0.hasEnd })
    }

    @Test("10,000 messages through two framers, with any fragmentation")
    func twoFramers() {
        var pair = Self.framerPair()
        while !pair.ends[0].isReady || !pair.ends[1].isReady { pair.step() }
        transfer(10_000, over: &pair, metadata: [LengthMetadata(tag: 42)])
        #expect(pair.ends[1].metadata.allSatisfy { ($0.first as? LengthMetadata)?.tag == 42 })
    }

    @Test("10,000 messages through WebSocket over records, with any fragmentation")
    func webSocketOverRecords() {
        var pair = Self.webSocketPair()
        while !pair.ends[0].isReady || !pair.ends[1].isReady { pair.step() }
        transfer(10_000, over: &pair, metadata: [WebSocketMetadata(opcode: .binary)])
        #expect(pair.ends[1].metadata.allSatisfy { ($0.first as? WebSocketMetadata)?.opcode == .binary })
    }

    @Test("Handshakes run from the bottom up, and closing from the top down")
    func order() {
        var pair = Self.webSocketPair(keepsLog: true)
        #expect(!pair.ends[0].isReady)
        pair.run()
        #expect(pair.ends.allSatisfy { $0.isReady })
        pair.ends[0].send([1, 2, 3])
        pair.ends[0].close()
        pair.run()
        #expect(pair.ends[0].isClosed)
        #expect(pair.ends[0].failure == nil)
        // The other side must receive the message, the close frame and the end of the stream.
        #expect(pair.ends[1].messages == [[1, 2, 3], []])
        #expect(
            pair.ends[1].metadata.last?.first as? WebSocketMetadata
                == WebSocketMetadata(opcode: .close, closing: WebSocketClosing(code: .normalClosure)))
        #expect(pair.ends[1].hasEnd)
        let log = pair.log?[0] ?? []
        #expect(log.starts(with: [0x48, 0x45, 0x4C, 0x4F]))
        // The log contains the request, the message, the close frame, and at the end the closing record.
        #expect(log[5] == ~UInt8(ascii: "G"))
        #expect(log.last == 0)
        pair.ends[1].close()
        pair.run()
        #expect(pair.ends[1].isClosed)
    }

    @Test("A stack that has failed awaits no time, although a stage below the failed one has set a timer")
    func deadlineAfterFailure() {
        var stack = ProtocolStack([FramerStage(), FramerStage()])
        var calls: [FramerCall.Kind] = []
        func use(_ index: Int, _ body: (inout FramerStage) -> Void) {
            _ = stack.withStage(stack.stageIDs[index], as: FramerStage.self, body)
            stack.resume(at: .zero)
            while let event = stack.nextEvent(at: .zero) {
                if case .stage(_, FramerEvent.call(let call)) = event { calls.append(call.kind) }
            }
        }
        stack.start(at: .zero)
        for index in 0..<2 {
            use(index) { _ in }
            use(index) { $0.startEnded(isReady: true) }
        }
        use(0) { $0.scheduleWakeUp(at: .seconds(5)) }
        #expect(stack.isReady && stack.deadline == .seconds(5))
        use(1) { $0.markFailed(.misuse) }
        #expect(stack.hasEnded && stack.deadline == nil)
        stack.advance(to: .seconds(6))
        use(0) { _ in }
        #expect(calls == [.start, .start, .cleanup] && stack.deadline == nil)
    }

    @Test("A request that could not be met is repeated after the next event")
    func nothingPending() {
        let hello: [UInt8] = [0x48, 0x45, 0x4C, 0x4F]
        var stack = ProtocolStack([RecordStage()])
        func ask() -> (event: Bool, inbound: [UInt8]?, outbound: [UInt8]?) {
            let (inbound, event) = (stack.nextInbound(at: .zero), stack.nextEvent(at: .zero))
            return (event != nil, inbound?.bytes.bytes, stack.nextOutbound(at: .zero)?.bytes.bytes)
        }
        func expect(_ event: Bool, _ inbound: [UInt8]?, _ outbound: [UInt8]?, _ step: Comment) {
            let first = ask()
            #expect(first.event == event && first.inbound == inbound && first.outbound == outbound, step)
            for _ in 0..<2 {
                let more = ask()
                #expect(!more.event && more.inbound == nil && more.outbound == nil, step)
            }
            #expect(!stack.mayHaveOutbound, step)
        }
        expect(false, nil, nil, "before the start")
        stack.start(at: .zero)
        expect(false, nil, hello, "started")
        stack.receive(MessageChunk(hello, endsMessage: false), at: .zero)
        expect(true, nil, nil, "ready")
        for byte: UInt8 in [1, 2] {
            stack.receive(MessageChunk([1, ~byte], endsMessage: false), at: .zero)
            expect(false, [byte], nil, "received")
        }
        let isTaken = [UInt8]([3, 4]).withUnsafeBytes { stack.send(lent: $0, in: MessageChunk(), at: .zero) }
        #expect(isTaken)
        expect(false, nil, [2, ~3, ~4], "sent")
        stack.abort(.endedEarly)
        #expect(stack.mayHaveEvent)
    }

    @Test("Nothing is accepted before every stage is ready, nor after closing has begun")
    func refuses() {
        var pair = Self.webSocketPair()
        #expect(pair.ends[0].stack.outboundRoom == 0)
        let isTaken = pair.ends[0].stack.send(MessageChunk([1]), at: .zero)
        #expect(!isTaken)
        pair.run()
        #expect(pair.ends[0].stack.outboundRoom > 0)
        pair.ends[0].close()
        let isTakenLate = pair.ends[0].stack.send(MessageChunk([1]), at: .zero)
        #expect(!isTakenLate)
    }

    @Test("Half-close: the end follows the content, and the other direction stays open")
    func halfClose() {
        var pair = Self.framerPair()
        pair.run()
        pair.ends[0].stack.send(MessageChunk([7], isFinal: true), at: .zero)
        pair.ends[0].settle()
        var sawEnd = false
        while let chunk = pair.ends[0].take() {
            #expect(!sawEnd)
            sawEnd = chunk.isFinal
            pair.ends[1].receive(chunk.bytes)
        }
        #expect(sawEnd)
        pair.ends[1].receiveEnd()
        while pair.ends[1].read() {}
        #expect(pair.ends[1].messages == [[7]])
        #expect(pair.ends[1].hasEnd)
        pair.ends[1].send([8, 9])
        while let chunk = pair.ends[1].take() { pair.ends[0].receive(chunk.bytes) }
        while pair.ends[0].read() {}
        #expect(pair.ends[0].messages == [[8, 9]])
    }

    @Test("A program that does not read stops the sender, and every stage holds a bounded amount")
    func backPressure() {
        for var pair in [Self.webSocketPair(), Self.framerPair()] {
            pair.run()
            var sent = 0
            for _ in 0..<20_000 {
                if pair.ends[0].stack.outboundRoom > 0 {
                    pair.ends[0].send([UInt8](repeating: 3, count: 1000))
                    sent += 1
                }
                pair.step()
            }
            #expect(pair.ends[0].stack.outboundRoom == 0)
            #expect(pair.ends[1].stack.inboundRoom == 0)
            // Each of the two stacks fills at most four stage buffers. The ninth buffer allows for the bytes in
            // transit.
            #expect(sent * 1000 < 9 * FramerStage.bufferLimit)
            var steps = 0
            while pair.ends[1].messages.count < sent, steps < 100_000 {
                steps += 1
                pair.step()
                while pair.ends[1].read() {}
            }
            #expect(pair.ends[1].messages.count == sent)
        }
    }

    @Test("A failing stage is reported to the program once, and its last output can still be sent")
    func failure() {
        var pair = Self.webSocketPair()
        pair.run()
        // A record whose content is a WebSocket frame with reserved bits set.
        pair.ends[0].receive(ByteChain([1, ~0xF1]))
        #expect(pair.ends[0].failure == .protocolViolation)
        #expect(pair.ends[0].stack.hasEnded)
        var last: [UInt8] = []
        while let chunk = pair.ends[0].take() { last += chunk.bytes.bytes }
        #expect(last.count > 1)
        pair.ends[0].failure = nil
        pair.ends[0].receive(ByteChain([1, 1]))
        pair.ends[0].stack.abort(.aborted)
        pair.ends[0].settle()
        #expect(pair.ends[0].failure == nil)
    }

    @Test("A refusing server: both ends fail, and the client receives the status")
    func refusal() {
        var pair = Self.webSocketPair()
        pair.ends[1].acceptsClients = false
        pair.run()
        #expect(pair.ends[0].failure == .aborted)
        #expect(pair.ends[1].failure == .aborted)
        #expect(pair.ends[0].events == ["handshake(CausewayWire.UpgradeError.refused(status: 400))"])
        #expect(!pair.ends[0].isReady && !pair.ends[1].isReady)
    }

    @Test("After the peer's close frame nothing is accepted, without a trap")
    func peerCloses() {
        var pair = Self.webSocketPair()
        pair.run()
        pair.ends[1].send(
            [], metadata: [WebSocketMetadata(opcode: .close, closing: WebSocketClosing(code: .goingAway))])
        pair.run()
        let closing = pair.ends[0].metadata.last?.first as? WebSocketMetadata
        #expect(closing?.closing.code == .goingAway)
        let isTaken = pair.ends[0].stack.send(MessageChunk([1]), at: .zero)
        #expect(!isTaken)
        pair.ends[0].close()
        pair.ends[1].close()
        pair.run()
        #expect(pair.ends.allSatisfy { $0.isClosed && $0.failure == nil })
    }

    @Test(
        "After the peer's close frame a framer's output waits for the end: it never counts as sent, and closing completes"
    )
    func closedBeneathFramer() {
        func end(_ isServer: Bool) -> StackEnd {
            StackEnd(
                [Self.webSocket(isServer, seed: isServer ? 2 : 1), FramerStage()], framers: [nil, LengthFramer()])
        }
        var pair = StackPair(end(false), end(true))
        pair.run()
        pair.ends[1].close()
        pair.run()
        var sent = 0
        while pair.ends[0].stack.outboundRoom > 0, sent < 10_000 {
            pair.ends[0].send([UInt8](repeating: 1, count: 100))
            sent += 1
        }
        // Before its handshake, the stack accepts only a limited amount of content, and sends none of it.
        #expect(sent > 1 && sent < 2_000)
        let nothing = pair.ends[0].take()
        #expect(nothing == nil || nothing?.isFinal == true)
        pair.ends[0].close()
        pair.run()
        #expect(pair.ends[0].isClosed && pair.ends[1].isClosed)
    }

    @Test("If the transport fails, framers are cleaned up once")
    func abort() {
        var pair = Self.framerPair()
        pair.run()
        pair.ends[0].events = []
        pair.ends[0].stack.abort(.endedEarly)
        pair.ends[0].settle()
        #expect(pair.ends[0].failure == .endedEarly)
        #expect(pair.ends[0].events == ["cleanup", "cleanup"])
        pair.ends[0].stack.abort(.aborted)
        pair.ends[0].settle()
        #expect(pair.ends[0].events.count == 2)
    }

    @Test("Closing framers: each is stopped, from the top down")
    func stops() {
        var pair = Self.framerPair()
        pair.run()
        pair.ends[0].events = []
        pair.ends[0].close()
        pair.run()
        #expect(pair.ends[0].isClosed)
        pair.ends[0].stack.abort(.aborted)
        pair.ends[0].settle()
        #expect(pair.ends[0].events == ["stop", "stop", "cleanup", "cleanup"])
        #expect(pair.ends[0].failure == nil)
    }

    @Test("A stage that is inserted above an opening stage starts when that one is ready")
    func inserts() {
        var end = StackEnd([FramerStage()], framers: [LengthFramer(usesHandshake: true)])
        end.start()
        let id = end.stack.insert(FramerStage(), above: end.stack.stageIDs[0])
        #expect(id != nil)
        if let id { end.framers[id] = EscapeFramer() }
        #expect(!end.isReady)
        end.receive(ByteChain([0x47, 0x4F]))
        #expect(end.isReady)
        #expect(end.events.filter { $0 == "start" }.count == 2)
        #expect(end.stack.insert(FramerStage(), above: end.stack.stageIDs[0]) == nil)
        end.send([1])
        #expect(end.take()?.bytes.bytes == [0x47, 0x4F])
        #expect(end.take()?.bytes.bytes == [0, 0, 0, 2, 1, 0, 1, 0x7E])
    }

    @Test("Over datagrams a framed message is one datagram, and each datagram is parsed separately")
    func datagrams() {
        var end = StackEnd([FramerStage()], framers: [LengthFramer()])
        end.start()
        end.send([1, 2, 3])
        end.send([4])
        let first = end.take()
        #expect(first?.bytes.bytes == [0, 0, 0, 3, 1, 0, 1, 2, 3])
        #expect(first?.endsMessage == true)
        #expect(end.take()?.bytes.bytes == [0, 0, 0, 1, 1, 0, 4])
        // The second datagram is too short to be valid. It does not affect the third datagram.
        end.receive(ByteChain([0, 0, 0, 1, 1, 0, 9]), endsMessage: true)
        end.receive(ByteChain([0, 0]), endsMessage: true)
        end.receive(ByteChain([0, 0, 0, 1, 1, 0, 8]), endsMessage: true)
        while end.read() {}
        #expect(end.messages == [[9], [8]])
    }
}
