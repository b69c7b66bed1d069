import CausewayProtocols
import CausewayTLS
import CausewayTestKit
import CausewayTypes
import Testing

@Suite("TLS as a stage of a protocol stack")
struct TLSStageTests {
    private func ready(_ cut: @escaping (inout SplitMix64, Int) -> Int = { $1 }) throws -> StackPair {
        var pair = try StackPair(.client(), .server())
        pair.cut = cut
        pair.start()
        try #require(pair.client.isReady && pair.server.isReady, "\(String(describing: pair.client.reason))")
        return pair
    }

    @Test("A mebibyte in each direction, with any fragmentation of the ciphertext", arguments: [1, 2, 3] as [UInt64])
    func transfer(seed: UInt64) throws {
        var pair = try ready { random, count in random.integer(in: 1...min(count, 30_000)) }
        pair.random = SplitMix64(seed: seed)
        pair.client.readLimit = 1_000
        let (up, down) = (pair.random.bytes(1 << 20), pair.random.bytes(1 << 20))
        pair.transfer(up, from: \.client)
        pair.transfer(down, from: \.server)
        #expect(pair.server.received == up)
        #expect(pair.client.received == down)
        #expect(pair.client.endCount == 0 && pair.server.endCount == 0)
        #expect(pair.client.failure == nil && pair.server.failure == nil)
    }

    @Test("The direct path delivers equal content, followed by its end", arguments: [1, 2, 3] as [UInt64])
    func straight(seed: UInt64) throws {
        var pair = try StackPair(.client(), .server())
        pair.goesStraight = true
        pair.start()
        try #require(pair.client.isReady && pair.server.isReady)
        pair.cut = { random, count in random.integer(in: 1...min(count, 30_000)) }
        pair.random = SplitMix64(seed: seed)
        let (up, down) = (pair.random.bytes(1 << 20), pair.random.bytes(1 << 20))
        pair.transfer(up, from: \.client)
        pair.transfer(down, from: \.server)
        #expect(pair.straightCount > 50)
        pair.transfer([1], from: \.client, isFinal: true)
        pair.transfer([2], from: \.server, isFinal: true)
        #expect(pair.server.received == up + [1])
        #expect(pair.client.received == down + [2])
        #expect(pair.client.endCount == 1 && pair.server.endCount == 1)
        #expect(pair.client.failure == nil && pair.server.failure == nil)
        #expect(pair.client.stack.inboundRoom == .max, "nothing follows the end")
    }

    @Test("The direct path is not used while content is pending, nor after a failure")
    func straightInOrder() throws {
        var pair = try ready()
        pair.server.isReading = false
        pair.transfer([1, 2, 3], from: \.client)
        pair.goesStraight = true
        pair.server.isReading = true
        ([4, 5] as [UInt8]).withUnsafeBytes {
            _ = pair.client.stack.send(lent: $0, in: MessageChunk(endsMessage: false), at: .zero)
        }
        // The server has not read the first message yet. The second message is therefore queued behind it.
        pair.run()
        #expect(pair.server.received == [1, 2, 3, 4, 5])
        #expect(pair.straightCount == 1, "sent on the direct path")
        pair.transfer([6], from: \.client)
        #expect(pair.straightCount == 2, "nothing is pending any more")
        pair.server.arriving = [23, 3, 3, 0, 4, 9, 9, 9, 9]
        pair.run()
        #expect(pair.server.failure != nil && pair.server.received == [1, 2, 3, 4, 5, 6])
        #expect(pair.client.failure != nil, "the alert was sent")
    }

    @Test(
        "Certificate steps run by the owner have equal results",
        arguments: [1, 2] as [UInt64])
    func stepsElsewhere(seed: UInt64) throws {
        let identity = try Identities.client.get()
        for count in [Int.max, 1, 500] {
            var pair = try StackPair(
                .client { $0.identity = identity }, .server { $0.peerAuthentication = .required }, stepsElsewhere: true)
            pair.cut = { _, waiting in min(waiting, count) }
            pair.start()
            try #require(pair.client.isReady && pair.server.isReady, "\(String(describing: pair.client.reason))")
            #expect(pair.client.stepCount > 0 && pair.server.stepCount > 0)
            pair.random = SplitMix64(seed: seed)
            let content = pair.random.bytes(20_000)
            pair.transfer(content, from: \.client, isFinal: true)
            pair.transfer(content, from: \.server, isFinal: true)
            #expect(pair.server.received == content && pair.client.received == content)
            #expect(pair.client.failure == nil && pair.server.failure == nil)
        }
    }

    @Test("After a refusal in a step of the owner, a client has the usual error")
    func refusedElsewhere() throws {
        let unknown = try Authority("Unknown").issue()
        var pair = try StackPair(
            .client { $0.identity = unknown }, .server { $0.peerAuthentication = .required }, stepsElsewhere: true)
        pair.start()
        #expect(pair.server.failure?.code == errSSLXCertChainInvalid && !pair.server.isReady)
        #expect(pair.client.reason?.status == errSSLPeerUnknownCA)
    }

    @Test("A connection that ends while a step runs on another thread does not touch its engine")
    func endedDuringStep() throws {
        let context = try TLSContext(.client())
        let stage = try TLSStage(context, host: "server.test", stepsElsewhere: true)
        var stack = ProtocolStack([stage])
        stack.start(at: .zero)
        while stack.nextOutbound(atMost: 1 << 20, at: .zero) != nil {}
        stack.receive(MessageChunk([22, 3, 3, 0, 4, 2, 0, 0, 0], endsMessage: false), at: .zero)
        var step: TLSHandshakeStep?
        while let event = stack.nextEvent(at: .zero) {
            if case .stage(_, let event) = event, case .step(let next) = event as? TLSEvent { step = next }
        }
        let found = try #require(step)
        stack.abort(Failure(errno: 103))
        #expect(stack.nextOutbound(atMost: 1_000, at: .zero) == nil)
        guard case .failed = found.run() else {
            Issue.record("a ServerHello without content was accepted")
            return
        }
        stack.withStage(stack.stageIDs[0], as: TLSStage.self) { $0.stepEnded(.established) }
        stack.resume(at: .zero)
        #expect(!stack.isReady)
    }

    @Test("Byte by byte with equal results")
    func drip() throws {
        var pair = try ready { _, _ in 1 }
        pair.client.readLimit = 1
        pair.server.readLimit = 1
        let content = pair.random.bytes(5_000)
        pair.transfer(content, from: \.client, isFinal: true)
        pair.transfer(content, from: \.server, isFinal: true)
        #expect(pair.client.received == content && pair.server.received == content)
        #expect(pair.client.endCount == 1 && pair.server.endCount == 1)
    }

    @Test("A side that has closed still receives", arguments: [true, false])
    func halfClose(isClientFirst: Bool) throws {
        var pair = try ready()
        let (first, second) = isClientFirst ? (\StackPair.client, \StackPair.server) : (\.server, \.client)
        let (ask, answer) = (pair.random.bytes(100_000), pair.random.bytes(200_000))
        pair.transfer(ask, from: first, isFinal: true)
        #expect(pair[keyPath: second].received == ask)
        #expect(pair[keyPath: second].endCount == 1)
        let isTaken = pair[keyPath: first].stack.send(MessageChunk([1]), at: .zero)
        #expect(!isTaken, "it reported the end of input")
        pair.transfer(answer, from: second, isFinal: true)
        #expect(pair[keyPath: first].received == answer)
        #expect(pair[keyPath: first].endCount == 1)
        #expect(pair.client.failure == nil && pair.server.failure == nil)
        pair.client.stack.close(at: .zero)
        pair.server.stack.close(at: .zero)
        pair.run()
        #expect(pair.client.isClosed && pair.server.isClosed)
    }

    @Test("Closing sends accepted content, then the close_notify")
    func close() throws {
        var pair = try ready()
        pair.client.stack.send(MessageChunk(Array("good-bye".utf8), endsMessage: false), at: .zero)
        pair.client.stack.close(at: .zero)
        pair.run()
        #expect(pair.client.isClosed)
        #expect(pair.server.received == Array("good-bye".utf8))
        #expect(pair.server.endCount == 1 && pair.server.failure == nil)
    }

    @Test("Closing during the handshake takes effect at once")
    func closeEarly() throws {
        var pair = try StackPair(.client(), .server())
        pair.client.stack.start(at: .zero)
        pair.client.stack.close(at: .zero)
        pair.run()
        #expect(pair.client.isClosed && !pair.client.isReady)
    }

    @Test("An end without a close_notify is a failure, after the content before it was delivered")
    func truncation() throws {
        var pair = try ready()
        pair.server.isReading = false
        pair.transfer([1, 2, 3], from: \.client)
        pair.server.hasEnd = true
        pair.run()
        #expect(pair.server.failure == nil, "content waits")
        pair.server.isReading = true
        pair.run()
        #expect(pair.server.received == [1, 2, 3])
        #expect(pair.server.endCount == 0)
        #expect(pair.server.failure == Failure(.tls, errSSLClosedNoNotify))
        #expect(pair.server.reason?.code == .truncated)
    }

    @Test("An end during the handshake is a failure")
    func endInHandshake() throws {
        var pair = try StackPair(.client(), .server())
        pair.client.stack.start(at: .zero)
        pair.client.hasEnd = true
        pair.run()
        #expect(pair.client.failure == Failure(.tls, errSSLClosedAbort))
    }

    @Test("The stage waits for the owner's decision", arguments: [true, false])
    func judging(isTrusted: Bool) throws {
        var pair = try StackPair(.client { $0.verifier = .owner(1) }, .server())
        pair.start()
        #expect(pair.client.wasAsked && !pair.client.isReady && !pair.server.isReady)
        pair.answer(isTrusted, \.client)
        pair.run()
        #expect(pair.client.isReady == isTrusted && pair.server.isReady == isTrusted)
        guard !isTrusted else { return }
        #expect(pair.client.failure == Failure(.tls, errSSLBadCert))
        #expect(pair.client.reason?.code == .refused)
        // The client has failed, but it still sent an alert, and the server has received it.
        guard case .alert = pair.server.reason?.code else {
            Issue.record("no alert: \(String(describing: pair.server.reason))")
            return
        }
    }

    @Test("A server that verifies its client delivers nothing before")
    func judgingServer() throws {
        let identity = try Identities.client.get()
        var pair = try StackPair(
            .client { $0.asksForIdentity = true },
            .server {
                $0.verifier = .owner(2)
                $0.peerAuthentication = .required
            })
        pair.client.identity = identity
        pair.start()
        #expect(pair.client.wasChallenged && pair.server.wasAsked)
        #expect(!pair.server.isReady)
        pair.answer(true, \.server)
        pair.run()
        #expect(pair.client.isReady && pair.server.isReady)
        #expect(pair.server.negotiation?.peerCertificates.first == identity.certificates[0])
    }

    @Test("Unread input blocks the peer, and a bounded amount is pending")
    func backpressure() throws {
        var pair = try ready()
        pair.server.isReading = false
        let content = pair.random.bytes(1 << 20)
        pair.transfer(content, from: \.client)
        // The server does not read, so its buffers fill. The rest of the client's output stays in transit.
        #expect(pair.server.stack.inboundRoom == 0)
        #expect(pair.server.arriving.count > 1 << 19)
        pair.server.isReading = true
        pair.run()
        #expect(pair.server.received == content)
    }

    @Test("Damage ends the stage with an alert, and nothing is delivered")
    func damage() throws {
        var pair = try ready()
        pair.server.stack.receive(MessageChunk([23, 3, 3, 0, 40] + [UInt8](repeating: 9, count: 40)), at: .zero)
        pair.run()
        #expect(pair.server.failure == Failure(.tls, errSSLBadRecordMac))
        #expect(pair.server.received.isEmpty)
        #expect(pair.client.failure != nil, "the client was notified")
    }

    @Test("After an abort there is no output")
    func abort() throws {
        var pair = try ready()
        pair.client.stack.send(MessageChunk([1, 2, 3], endsMessage: false), at: .zero)
        pair.client.stack.abort(Failure(errno: 104))
        let chunk = pair.client.stack.nextOutbound(at: .zero)
        #expect(chunk == nil)
        #expect(pair.client.stack.deadline == nil)
    }

    @Test("Lines for a key log file, and secrets for other protocols")
    func secrets() throws {
        var pair = try StackPair(.client { $0.logsKeys = true }, .server())
        pair.start()
        #expect(pair.client.keyLog.contains { $0.hasPrefix("CLIENT_TRAFFIC_SECRET_0 ") })
        let (one, other) = (
            pair.client.stack.withStage(pair.client.id, as: TLSStage.self) {
                $0.exportSecret(label: "EXPORTER-test", context: [1], count: 32)
            },
            pair.server.stack.withStage(pair.server.id, as: TLSStage.self) {
                $0.exportSecret(label: "EXPORTER-test", context: [1], count: 32)
            }
        )
        #expect(one != nil && one == other)
    }

    @Test(
        "The next retransmission time stays the same until an event, and the stage waits for the peer until then")
    func repetition() throws {
        var pair = try StackPair(.client { $0.usesDatagrams = true }, .server { $0.usesDatagrams = true })
        pair.client.stack.start(at: .seconds(5))
        let deadline = try #require(pair.client.stack.deadline)
        #expect(deadline > .seconds(5) && deadline <= .seconds(6))
        #expect((0..<100).allSatisfy { _ in pair.client.stack.deadline == deadline })
        #expect(pair.client.stack.awaitsPeer && pair.client.stack.isOpening)
        pair.start()
        #expect(pair.client.isReady && !pair.client.stack.awaitsPeer)
    }

    @Test("The library's timeout is read again each second, because a change of the wall clock changes it")
    func longTimeout() throws {
        let settings = TLSSettings.client {
            $0.usesDatagrams = true
            $0.firstRetransmission = .seconds(60)
        }
        var pair = try StackPair(settings, .server { $0.usesDatagrams = true })
        pair.client.stack.start(at: .seconds(5))
        while pair.client.stack.nextOutbound(at: .seconds(5)) != nil {}
        for second in 6...8 {
            #expect(pair.client.stack.deadline == .seconds(second))
            pair.client.stack.advance(to: .seconds(second))
            let chunk = pair.client.stack.nextOutbound(at: .seconds(second))
            #expect(chunk == nil)
        }
    }

    @Test("Over datagrams each message stays one, and one that does not fit is refused")
    func datagrams() throws {
        var pair = try StackPair(.client { $0.usesDatagrams = true }, .server { $0.usesDatagrams = true })
        pair.start()
        try #require(pair.client.isReady && pair.server.isReady)
        let messages = (1...20).map { pair.random.bytes($0 * 50) }
        for message in messages {
            let isTaken = pair.client.stack.send(MessageChunk(message), at: .zero)
            #expect(isTaken)
            pair.run()
        }
        #expect(pair.server.messages == messages)
        let isTaken = pair.client.stack.send(MessageChunk([UInt8](repeating: 0, count: 5_000)), at: .zero)
        #expect(!isTaken)
        pair.client.stack.close(at: .zero)
        pair.run()
        #expect(pair.server.endCount == 1 && pair.client.failure == nil)
    }
}
