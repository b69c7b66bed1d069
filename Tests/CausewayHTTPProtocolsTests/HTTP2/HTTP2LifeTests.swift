import CausewayHTTPProtocols
import CausewayProtocols
import CausewayWire
import Testing

@Suite("HTTP/2: life of a connection (RFC 9113 §5.1.2, §6.5, §6.7, §6.8)")
struct HTTP2LifeTests {
    private let head = HTTP2RequestHead(authority: "h")

    @Test("§5.1.2: requests above the limit wait, and start in order")
    func waits() throws {
        var client = HTTP2Subject.open(.client, settings: [HTTP2Setting(.maxConcurrentStreams, 2)])
        for _ in 0..<5 { _ = try client.connection.request(head, endsStream: true) }
        client.collect()
        #expect(client.frames.map(\.id) == [1, 3])
        client.connection.reset(5)
        client.receive { $0.headers(1, HTTP2Wire.ok) }
        #expect(client.frames.map(\.id) == [1, 3, 7])
        #expect(client.events.contains(.closed(5, .cancelled)) && client.resets.isEmpty)
        client.receive { $0.setting(.maxConcurrentStreams, 3) }
        #expect(client.decodeHeads().count == 4)
    }

    @Test("A request that waits keeps its content")
    func waitsWithContent() throws {
        var client = HTTP2Subject.open(.client, settings: [HTTP2Setting(.maxConcurrentStreams, 0)])
        let id = try client.connection.request(head, endsStream: false)
        try client.connection.send(id, ByteChain([1, 2, 3]), endsStream: true)
        client.collect()
        #expect(client.frames.isEmpty)
        client.receive { $0.setting(.maxConcurrentStreams, 1) }
        #expect(client.contentCount(of: id) == 3)
    }

    @Test("The head of a request that waited precedes its content, also if content completes the stream before it")
    func startsWithHead() throws {
        var client = HTTP2Subject.open(.client, settings: [HTTP2Setting(.maxConcurrentStreams, 1)])
        let first = try client.connection.request(head, endsStream: false)
        let second = try client.connection.request(head, endsStream: false)
        try client.connection.send(second, ByteChain([2]), endsStream: true)
        client.receive { $0.headers(first, HTTP2Wire.ok) }
        try client.connection.send(first, ByteChain([1]), endsStream: true)
        client.collect()
        #expect(client.frames.map(\.id) == [first, first, second, second])
        let startsWithHead = if case .headers? = client.frames.dropFirst(2).first?.frame { true } else { false }
        #expect(startsWithHead)
        #expect(client.frames.last?.frame == .data([2], endsStream: true))
    }

    @Test("§6.8: streams above the last one of GOAWAY may be retried; those below complete")
    func goAway() throws {
        var client = HTTP2Subject.open(.client, settings: [HTTP2Setting(.maxConcurrentStreams, 2)])
        for _ in 0..<3 { _ = try client.connection.request(head, endsStream: true) }
        client.receive { $0.frame(.goAway(lastStreamID: 1, .noError)) }
        #expect(client.events.contains(.closed(3, .unprocessed)) && client.events.contains(.closed(5, .unprocessed)))
        #expect(!client.connection.acceptsRequests)
        #expect(throws: HTTP2Refusal.closing) { try client.connection.request(head, endsStream: true) }
        client.receive { $0.headers(1, HTTP2Wire.ok) }
        #expect(client.events.suffix(2) == [.closed(1, nil), .ended(nil)])
        #expect(client.goAways == [.noError] && client.connection.isFinished)
    }

    // This test checks RFC 9113 §5.4.1, §7.
    @Test("§6.8: an error of the peer is the reason for the end")
    func goAwayWithError() throws {
        var client = HTTP2Subject.open(.client)
        _ = try client.connection.request(head, endsStream: true)
        client.receive { $0.frame(.goAway(lastStreamID: 1, .enhanceYourCalm, debugData: [1])) }
        #expect(!client.connection.hasEnded)
        client.connection.inputEnded()
        client.collect()
        #expect(
            client.events.suffix(2) == [
                .closed(1, .connectionEnded), .ended(.goAway(.enhanceYourCalm, debugData: [1])),
            ])
    }

    @Test("§6.8: a server ends gracefully in two steps")
    func shutsDown() throws {
        var server = HTTP2Subject.open(.server)
        server.receive { $0.headers(1, HTTP2Wire.get) }
        server.connection.shutDown(at: .zero)
        server.connection.shutDown(at: .zero)
        server.collect()
        guard server.frames.count == 2, case .ping(let data, isAcknowledgment: false) = server.frames[1].frame else {
            Issue.record("\(server.frames)")
            return
        }
        #expect(server.frames[0].frame == .goAway(lastStreamID: .largestStream, .noError))
        // This request was in flight when the server sent the first GOAWAY frame, so the server still accepts it. After
        // the second GOAWAY frame, the server accepts no new request.
        server.receive { $0.headers(3, HTTP2Wire.get) }
        server.receive { $0.frame(.ping(data, isAcknowledgment: true)) }
        #expect(server.frames.last?.frame == .goAway(lastStreamID: 3, .noError))
        server.receive { $0.headers(5, HTTP2Wire.get) }
        #expect(server.connection.streamCount == 2 && server.resets.isEmpty)
        for id in [UInt32(1), 3] {
            try server.connection.respond(id, HTTP2ResponseHead(status: 204), endsStream: true)
        }
        server.collect()
        #expect(server.events.last == .ended(nil) && server.connection.isFinished)
    }

    @Test("§6.8: the first step of a graceful end has a limit")
    func shutdownDeadline() {
        var server = HTTP2Subject.open(.server)
        server.connection.shutDown(at: .seconds(1))
        #expect(server.connection.deadline == .seconds(11))
        server.connection.advance(to: .seconds(10))
        server.collect()
        #expect(!server.connection.hasEnded)
        server.connection.advance(to: .seconds(11))
        server.collect()
        #expect(server.events.last == .ended(nil) && server.goAways == [.noError, .noError])
    }

    @Test("§6.8: the last stream identifier never increases, although an ignored stream has a higher one")
    func lastStreamIdentifier() {
        var server = HTTP2Subject.open(.server)
        server.receive { $0.headers(1, HTTP2Wire.get) }
        server.connection.finishAccepting()
        server.receive { $0.headers(3, HTTP2Wire.get) }
        server.connection.abort()
        server.collect()
        let last = server.frames.compactMap { entry -> UInt32? in
            guard case .goAway(let last, _, _) = entry.frame else { return nil }
            return last
        }
        #expect(last == [1, 1])
    }

    @Test("A client without requests ends at once")
    func clientShutsDown() {
        var client = HTTP2Subject.open(.client)
        client.connection.shutDown(at: .zero)
        client.collect()
        #expect(client.events == [.ended(nil)] && client.goAways == [.noError])
    }

    @Test("§6.5.3: settings without an acknowledgment")
    func settingsTimeout() {
        var client = HTTP2Subject.open(.client, acknowledges: false)
        #expect(client.connection.deadline == .seconds(10))
        client.connection.advance(to: .milliseconds(9999))
        #expect(!client.connection.hasEnded)
        client.connection.advance(to: .seconds(10))
        client.collect()
        #expect(client.goAways == [.settingsTimeout] && client.connection.deadline == nil)
        var other = HTTP2Subject.open(.client)
        #expect(other.connection.deadline == nil)
        other.connection.advance(to: .seconds(100))
        #expect(!other.connection.hasEnded)
    }

    @Test("§6.5: settings are acknowledged and reported")
    func reportsSettings() {
        var client = HTTP2Subject(.client)
        _ = client.takeFrames()
        client.receive { $0.setting(.maxConcurrentStreams, 7) }
        guard case .settings(let settings) = client.events.first else {
            Issue.record("no settings")
            return
        }
        #expect(settings.maxConcurrentStreams == 7 && client.connection.peerSettings == settings)
        #expect(client.frames.map(\.frame) == [.settingsAcknowledgment])
    }

    @Test("§6.7: pings of both sides")
    func pings() {
        var client = HTTP2Subject.open(.client)
        client.connection.sendPing(5)
        client.connection.sendPing(6)
        client.receive { wire in
            wire.frame(.ping(9))
            wire.frame(.ping(6, isAcknowledgment: true))
            wire.frame(.ping(6, isAcknowledgment: true))
            wire.frame(.ping(5, isAcknowledgment: true))
        }
        #expect(client.events == [.pingAnswered(6), .pingAnswered(5)])
        #expect(client.frames.map(\.frame) == [.ping(5), .ping(6), .ping(9, isAcknowledgment: true)])
        var sent: [Bool] = []
        for token in 0...64 { sent.append(client.connection.sendPing(UInt64(token))) }
        #expect(sent == [Bool](repeating: true, count: 64) + [false])
    }

    // The end of the byte stream: RFC 9113 §5.4.3.
    @Test("The end of the stream of bytes")
    func inputEnds() throws {
        var client = HTTP2Subject.open(.client)
        client.connection.inputEnded()
        client.collect()
        #expect(client.events == [.ended(nil)])
        client = HTTP2Subject.open(.client)
        _ = try client.connection.request(head, endsStream: true)
        client.connection.inputEnded()
        client.connection.inputEnded()
        client.collect()
        #expect(client.events == [.closed(1, .connectionEnded), .ended(.endedEarly)])
        client = HTTP2Subject.open(.client)
        client.receive([0, 0])
        client.connection.inputEnded()
        client.collect()
        #expect(client.events == [.ended(.endedEarly)])
    }

    @Test("Abort ends all streams; requests that waited may be retried")
    func aborts() throws {
        var client = HTTP2Subject.open(.client, settings: [HTTP2Setting(.maxConcurrentStreams, 1)])
        for _ in 0..<2 { _ = try client.connection.request(head, endsStream: true) }
        client.connection.abort(.cancel)
        client.connection.abort(.cancel)
        client.collect()
        #expect(client.events == [.closed(3, .unprocessed), .closed(1, .connectionEnded), .ended(.aborted)])
        #expect(client.goAways == [.cancel])
    }

    @Test("§5.1: late frames on a stream that this side reset are ignored")
    func ignoresLate() throws {
        var client = HTTP2Subject.open(.client)
        _ = try client.connection.request(head, endsStream: true)
        client.connection.reset(1)
        client.receive { wire in
            wire.headers(1, HTTP2Wire.ok, endsStream: false)
            wire.data(1)
            wire.frame(.windowUpdate(1), on: 1)
            wire.headers(1, [("a", "b")])
            wire.frame(.resetStream(.cancel), on: 1)
        }
        #expect(client.events == [.closed(1, .cancelled)] && client.goAways.isEmpty && client.resets.count == 1)
    }
}
