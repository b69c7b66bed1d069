import CausewayHTTPProtocols
import CausewayProtocols
import CausewayWire
import Testing

@Suite("HTTP/2: bounds against hostile peers (RFC 9113 §10.5)")
struct HTTP2BoundTests {
    struct Flood: Sendable, CustomTestStringConvertible {
        let name: String
        let role: HTTP2Connection.Role
        /// Performs one step of the flood attack.
        let step: @Sendable (inout HTTP2Wire, UInt32) -> Void
        var testDescription: String { name }
    }

    static let floods: [Flood] = [
        Flood(name: "rapid reset", role: .server) { wire, id in
            wire.headers(id, HTTP2Wire.get)
            wire.frame(.resetStream(.cancel), on: id)
        },
        Flood(name: "resets that the server is made to send", role: .server) { wire, id in
            wire.headers(id, HTTP2Wire.post, endsStream: false)
            wire.frame(8, on: id, [0, 0, 0, 0])
        },
        Flood(name: "malformed requests", role: .server) { wire, id in wire.headers(id, [(":method", "GET")]) },
        Flood(name: "heads that are too large", role: .server) { wire, id in
            bomb(&wire, on: id, [0x82, 0x87, 0x84], endsStream: true)
        },
        Flood(name: "trailers that are too large", role: .server) { wire, id in
            wire.headers(id, HTTP2Wire.post, endsStream: false)
            bomb(&wire, on: id, [], endsStream: true)
        },
        Flood(name: "PING", role: .client) { wire, _ in wire.frame(.ping(1)) },
        Flood(name: "answers to PING", role: .client) { wire, _ in wire.frame(.ping(1, isAcknowledgment: true)) },
        Flood(name: "SETTINGS", role: .client) { wire, _ in wire.settings() },
        Flood(name: "PRIORITY", role: .server) { wire, _ in
            wire.frame(.priority(HTTP2Dependency(isExclusive: false, streamID: 0, weight: 1)), on: 1)
        },
        Flood(name: "PRIORITY_UPDATE", role: .server) { wire, id in wire.frame(.priorityUpdate(id % 64, [])) },
        Flood(name: "GOAWAY", role: .server) { wire, id in
            if id == 1 { wire.headers(1, HTTP2Wire.post, endsStream: false) }
            wire.frame(.goAway(lastStreamID: 0, .noError))
        },
        Flood(name: "unknown frames", role: .client) { wire, _ in wire.frame(0xFA, on: 0) },
        Flood(name: "WINDOW_UPDATE", role: .client) { wire, _ in wire.frame(.windowUpdate(1)) },
        Flood(name: "DATA without content", role: .server) { wire, id in
            if id == 1 { wire.headers(1, HTTP2Wire.post, endsStream: false) }
            wire.frame(.data([]), on: 1)
        },
        Flood(name: "DATA with padding only", role: .server) { wire, id in
            if id == 1 { wire.headers(1, HTTP2Wire.post, endsStream: false) }
            wire.frame(.data([], padding: 9), on: 1)
        },
    ]

    @Test("A flood ends the connection with ENHANCE_YOUR_CALM", arguments: floods)
    func endsFlood(_ flood: Flood) {
        var subject = HTTP2Subject.open(flood.role) { $0.floodBurst = 50 }
        var steps = 0
        for step in 0..<200 where !subject.connection.hasEnded {
            subject.receive { flood.step(&$0, UInt32(2 * step + 1)) }
            steps += 1
        }
        #expect(subject.goAways == [.enhanceYourCalm])
        #expect((49...52).contains(steps))
    }

    @Test("A flood of malformed requests ends without an event of a stream that was not reported")
    func reportsNoMalformedRequest() {
        var server = HTTP2Subject.open(.server) { $0.floodBurst = 5 }
        for id in 0..<7 { server.receive { $0.headers(UInt32(2 * id + 1), [(":method", "GET")]) } }
        #expect(server.goAways == [.enhanceYourCalm] && server.events.count == 1)
    }

    @Test("The same frames at a low rate do not", arguments: floods)
    func acceptsRate(_ flood: Flood) {
        var subject = HTTP2Subject.open(flood.role) { $0.floodBurst = 50 }
        for step in 0..<200 {
            subject.now += .milliseconds(50)
            subject.receive { flood.step(&$0, UInt32(2 * step + 1)) }
        }
        #expect(!subject.connection.hasEnded)
    }

    @Test("Interim responses without an end")
    func interimFlood() throws {
        var client = HTTP2Subject.open(.client) { $0.floodBurst = 50 }
        _ = try client.connection.request(HTTP2RequestHead(authority: "h"), endsStream: true)
        for _ in 0..<60 { client.receive { $0.headers(1, [(":status", "103")], endsStream: false) } }
        #expect(client.goAways == [.enhanceYourCalm])
    }

    @Test("Credit for content that was sent is no flood")
    func acceptsCredit() throws {
        var server = HTTP2Subject.open(.server) { $0.floodBurst = 50 }
        server.receive { $0.headers(1, HTTP2Wire.get) }
        try server.connection.respond(1, HTTP2ResponseHead(status: 200), endsStream: false)
        for _ in 0..<500 {
            try server.connection.send(1, ByteChain([1]))
            server.collect()
            server.receive { wire in
                wire.frame(.windowUpdate(1), on: 1)
                wire.frame(.windowUpdate(1))
            }
        }
        #expect(!server.connection.hasEnded)
    }

    @Test("Pings beside credit for content that was sent are no flood: gRPC measures the bandwidth with them")
    func acceptsProbes() throws {
        var server = HTTP2Subject.open(.server) { $0.floodBurst = 50 }
        server.receive { $0.headers(1, HTTP2Wire.get) }
        try server.connection.respond(1, HTTP2ResponseHead(status: 200), endsStream: false)
        for number in 0..<500 {
            try server.connection.send(1, ByteChain([1]))
            server.collect()
            server.receive { wire in
                wire.frame(.windowUpdate(1))
                wire.frame(.ping(UInt64(number)))
            }
        }
        #expect(!server.connection.hasEnded)
    }

    @Test("Credit in pieces of 4 KiB for content that was sent is no flood")
    func acceptsCreditInPieces() throws {
        var server = HTTP2Subject.open(.server) { $0.floodBurst = 50 }
        server.receive { $0.headers(1, HTTP2Wire.get) }
        try server.connection.respond(1, HTTP2ResponseHead(status: 200), endsStream: false)
        for _ in 0..<100 {
            try server.connection.send(1, ByteChain([UInt8](repeating: 0x61, count: 16384)))
            server.collect()
            server.receive { wire in
                for _ in 0..<4 {
                    wire.frame(.windowUpdate(4096), on: 1)
                    wire.frame(.windowUpdate(4096))
                }
            }
        }
        #expect(!server.connection.hasEnded)
        #expect(server.contentCount(of: 1) == 100 * 16384)
    }

    @Test("CONTINUATION frames without an end", arguments: [0, 1, 1000])
    func continuationFlood(count: Int) {
        var server = HTTP2Subject.open(.server)
        server.receive { wire in
            wire.headers(1, [], endsHeaders: false)
            for _ in 0..<100 {
                wire.frame(.continuation([UInt8](repeating: 0, count: count)[...], endsHeaders: false), on: 1)
            }
        }
        #expect(server.goAways == [.enhanceYourCalm])
    }

    @Test("A field block above the limit of its length")
    func longBlock() {
        var server = HTTP2Subject.open(.server)
        server.receive { wire in
            wire.headers(1, [], endsHeaders: false)
            for _ in 0..<5 {
                wire.frame(.continuation([UInt8](repeating: 0, count: 16384)[...], endsHeaders: false), on: 1)
            }
        }
        #expect(server.goAways == [.enhanceYourCalm])
    }

    /// Appends a block with many references to one large entry of the dynamic table.
    private static func bomb(_ wire: inout HTTP2Wire, on id: UInt32, _ control: [UInt8], endsStream: Bool) {
        var block = control + [0x40, 0x01, 0x78, 0x7F, 0x81, 0x1E]
        block += [UInt8](repeating: 0x79, count: 4000)
        block += [UInt8](repeating: 0xBE, count: 8000)
        wire.frame(.headers(HTTP2HeadersFrame(block[...], endsStream: endsStream)), on: id)
    }

    @Test("§10.5.1: a request with too many fields is answered with status 431")
    func answersLargeFields() {
        var server = HTTP2Subject.open(.server)
        server.receive { Self.bomb(&$0, on: 1, [0x82, 0x87, 0x84], endsStream: true) }
        #expect(server.decodeHeads().last?.firstValue(of: ":status") == "431")
        #expect(server.events.isEmpty && server.resets.isEmpty && server.connection.streamCount == 0)
        server.receive { Self.bomb(&$0, on: 3, [0x82, 0x87, 0x84], endsStream: false) }
        #expect(server.resets.isEmpty && server.events.isEmpty)
        server.receive { $0.frame(.data([1, 2], endsStream: true), on: 3) }
        server.receive { $0.headers(5, HTTP2Wire.get) }
        #expect(server.connection.streamCount == 1 && !server.connection.hasEnded)
    }

    @Test("A response with too many fields fails its stream only")
    func refusesLargeFields() throws {
        var client = HTTP2Subject.open(.client)
        _ = try client.connection.request(HTTP2RequestHead(authority: "h"), endsStream: true)
        client.receive { Self.bomb(&$0, on: 1, [0x88], endsStream: true) }
        #expect(client.events == [.closed(1, .fieldsTooLarge)] && client.resets.map(\.code) == [.enhanceYourCalm])
        #expect(!client.connection.hasEnded)
    }

    @Test("Answers for a peer that does not read are bounded")
    func boundsReplies() {
        var connection = HTTP2Connection(
            .client,
            configuration: {
                var c = HTTP2Configuration(); c.floodBurst = 1 << 20; return c
            }())
        connection.started(at: .zero)
        var wire = HTTP2Wire()
        wire.settings()
        for _ in 0..<5000 { wire.frame(.ping(1)) }
        connection.received(wire.bytes[...], at: .zero)
        #expect(connection.hasEnded)
        let output = connection.nextOutput()
        #expect((output?.count ?? 0) < 66 << 10)
    }
}
