import CausewayHTTPProtocols
import CausewayWire
import Testing

@Suite("HTTP/2: requests that are discarded after their response (RFC 9113 §8.1)")
struct HTTP2DrainingTests {
    /// Returns a server whose response on stream 1 is complete. The client has not sent the complete request yet.
    private func responded(
        _ change: (inout HTTP2Configuration) -> Void = { _ in }
    ) throws -> HTTP2Subject {
        var server = HTTP2Subject.open(.server, change)
        server.receive { $0.headers(1, HTTP2Wire.post, endsStream: false) }
        try server.connection.respond(1, HTTP2ResponseHead(status: 403), endsStream: true)
        server.collect()
        #expect(server.takeEvents().count == 1)
        server.connection.discardRequest(1)
        server.connection.settle(at: server.now)
        server.collect()
        #expect(server.takeEvents() == [.closed(1, nil)] && server.connection.streamCount == 0)
        return server
    }

    @Test("Content that still arrives is discarded, and gets credit for the connection only")
    func credit() throws {
        var server = try responded { $0.connectionWindow = 65_535 }
        for _ in 0..<100 { server.receive { $0.data(1, count: 16_384) } }
        #expect(server.events.isEmpty && server.resets.isEmpty && !server.connection.hasEnded)
        let updated = server.frames.compactMap { if case .windowUpdate = $0.frame { $0.id } else { nil } }
        #expect(!updated.isEmpty && updated.allSatisfy { $0 == 0 })
    }

    enum Ending: CaseIterable {
        case content, trailers, reset, time
    }

    @Test("Every end of the request lets a connection end that is shutting down", arguments: Ending.allCases)
    func ends(_ ending: Ending) throws {
        var server = try responded { $0.floodBurst = 0 }
        server.connection.finishAccepting()
        server.collect()
        #expect(server.events.isEmpty && server.connection.deadline == .milliseconds(500))
        switch ending {
        case .content: server.receive { $0.frame(.data([1], endsStream: true), on: 1) }
        case .trailers: server.receive { $0.headers(1, [("a", "b")]) }
        case .reset: server.receive { $0.frame(.resetStream(.cancel), on: 1) }
        case .time:
            server.connection.advance(to: .milliseconds(500))
            server.collect()
        }
        #expect(server.resets.map(\.code) == (ending == .time ? [.noError] : []))
        #expect(server.events == [.ended(nil)] && server.connection.deadline == nil)
    }

    @Test("A discarded request counts toward the limit of concurrent streams until its end (RFC 9113 §5.1.2)")
    func counts() throws {
        var server = try responded { $0.settings.maxConcurrentStreams = 1 }
        server.receive { $0.headers(3, HTTP2Wire.get) }
        #expect(server.resets.map(\.code) == [.refusedStream])
        server.receive { $0.frame(.data([], endsStream: true), on: 1) }
        server.receive { $0.headers(5, HTTP2Wire.get) }
        #expect(server.connection.streamCount == 1)
    }

    @Test("A ping follows the end of a discarded request; content after the end is a violation")
    func afterEnd() throws {
        var server = try responded()
        server.receive { $0.frame(.data([1], endsStream: true), on: 1) }
        #expect(server.frames.contains { if case .ping(_, isAcknowledgment: false) = $0.frame { true } else { false } })
        server.receive { $0.frame(.data([1]), on: 1) }
        #expect(server.goAways == [.streamClosed])
    }

    @Test("A response that is not complete is reset")
    func incomplete() throws {
        var server = HTTP2Subject.open(.server)
        server.receive { $0.headers(1, HTTP2Wire.post, endsStream: false) }
        server.connection.discardRequest(1)
        server.collect()
        #expect(server.resets.map(\.code) == [.noError] && server.events.last == .closed(1, .cancelled))
    }
}
