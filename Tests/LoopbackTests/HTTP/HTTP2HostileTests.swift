import CausewayProtocols
import CausewayWire
import FoundationEssentials
import Testing

@testable import CausewayHTTP

/// Hostile bytes that a server sends after the client's request on stream 1.
struct HostileBytes: Sendable, CustomTestStringConvertible {
    enum Extent { case stream, connection }

    let testDescription: String
    let extent: Extent
    private(set) var bytes: [UInt8]
    /// A SETTINGS frame without settings.
    private static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]

    init(_ name: String, ends extent: Extent = .connection, sendsSettings: Bool = true) {
        testDescription = name
        self.extent = extent
        bytes = sendsSettings ? Self.settings : []
    }

    func raw(_ more: [UInt8]) -> HostileBytes {
        var all = self
        all.bytes += more
        return all
    }

    func adding(_ frame: HTTP2Frame, on id: HTTP2StreamID = 0, count: Int = 1) -> HostileBytes {
        var one: [UInt8] = []
        frame.serialize(streamID: id, into: &one)
        return raw([[UInt8]](repeating: one, count: count).flatMap { $0 })
    }

    /// Adds a frame whose header may contradict its payload.
    func frame(_ type: UInt8, flags: UInt8 = 0, on id: HTTP2StreamID = 0, _ payload: [UInt8], length: Int? = nil)
        -> HostileBytes
    {
        var header: [UInt8] = []
        HTTP2FrameHeader(
            length: length ?? payload.count, type: HTTP2FrameType(rawValue: type),
            flags: HTTP2FrameFlags(rawValue: flags),
            streamID: id
        ).serialize(into: &header)
        return raw(header + payload)
    }

    func headers(_ fields: [(String, String)], endsHeaders: Bool = true, endsStream: Bool = false) -> HostileBytes {
        var block: [UInt8] = []
        for (name, value) in fields {
            // Encode the field as a literal, without indexing and without Huffman codes (RFC 7541 §6.2.2).
            block += [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
        }
        let frame = HTTP2HeadersFrame(block[...], endsHeaders: endsHeaders, endsStream: endsStream)
        return adding(.headers(frame), on: 1)
    }

    /// Reads until the client has opened stream 1 with a request. The connection preface can arrive earlier.
    static func awaitRequest(_ peer: ScriptedPeer) async throws {
        var input: [UInt8] = []
        var start = 24
        while true {
            while input.count >= start + 9 {
                if input[start + 3] == 1 { return }
                start += 9 + (Int(input[start]) << 16 | Int(input[start + 1]) << 8 | Int(input[start + 2]))
            }
            let piece = try await peer.socket.read()
            guard !piece.isEmpty else { return }
            input += piece
        }
    }

    private static let ok = [(":status", "200")]
    private static func content(_ count: Int) -> HTTP2Frame { .data([UInt8](repeating: 97, count: count)[...]) }

    static let all = framing + messages + floods

    private static let framing = [
        HostileBytes("HTTP/1.1", sendsSettings: false).raw(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)),
        HostileBytes("no SETTINGS frame", sendsSettings: false).adding(.ping(1)),
        HostileBytes("frame above the maximum size").frame(0, on: 1, [], length: 16_385),
        HostileBytes("SETTINGS of 5 bytes").frame(4, [0, 0, 0, 0, 0]),
        HostileBytes("window above the maximum").adding(.settings([HTTP2Setting(.initialWindowSize, 1 << 31)])),
        HostileBytes("server push enabled").adding(.settings([HTTP2Setting(.enablePush, 1)])),
        HostileBytes("SETTINGS on a stream").frame(4, on: 1, []),
        HostileBytes("acknowledgment with content").frame(4, flags: 1, [0, 0, 0, 0, 0, 0]),
        HostileBytes("PUSH_PROMISE").adding(.pushPromise(2, []), on: 1),
        HostileBytes("WINDOW_UPDATE of 0 on the connection").adding(.windowUpdate(0)),
        HostileBytes("WINDOW_UPDATE of 0 on the stream", ends: .stream).adding(.windowUpdate(0), on: 1),
        HostileBytes("window of the connection overflows").adding(.windowUpdate(0x7FFF_FFFF)),
        HostileBytes("window of the stream overflows", ends: .stream).adding(.windowUpdate(0x7FFF_FFFF), on: 1),
        HostileBytes("PING of 7 bytes").frame(6, [0, 0, 0, 0, 0, 0, 0]),
        HostileBytes("RST_STREAM of 3 bytes").frame(3, on: 1, [0, 0, 0]),
        HostileBytes("RST_STREAM on an idle stream").adding(.resetStream(.cancel), on: 99),
        HostileBytes("end of the stream after GOAWAY with an error").adding(.goAway(lastStreamID: 1, .internalError)),
        HostileBytes("GOAWAY of 7 bytes").frame(7, [0, 0, 0, 0, 0, 0, 0]),
        HostileBytes("PRIORITY_UPDATE").adding(.priorityUpdate(1, [])),
        HostileBytes("CONTINUATION without a field block").adding(.continuation([]), on: 1),
        HostileBytes("PING inside a field block").headers(ok, endsHeaders: false).adding(.ping(1)),
        HostileBytes("DATA inside a field block").headers(ok, endsHeaders: false).adding(content(1), on: 1),
        HostileBytes("DATA on an idle stream").adding(content(1), on: 3),
        HostileBytes("DATA on stream 0").adding(content(1)),
        HostileBytes("padding longer than the frame").headers(ok).frame(0, flags: 8, on: 1, [5, 0]),
        HostileBytes("HEADERS on a stream of the server").frame(1, flags: 4, on: 2, [0x88]),
        HostileBytes("HEADERS on an idle stream").frame(1, flags: 4, on: 7, [0x88]),
        HostileBytes("invalid index of HPACK").frame(1, flags: 4, on: 1, [0xFF, 0xFF, 0xFF, 0xFF, 0x0F]),
        HostileBytes("truncated field block").frame(1, flags: 4, on: 1, [0x00, 0x05, 0x61]),
        HostileBytes("end of the stream inside a frame").headers(ok).frame(0, on: 1, [1, 2], length: 100),
        HostileBytes("end of the stream inside the content").headers(ok).adding(content(10), on: 1),
    ]

    private static let messages = [
        HostileBytes("DATA before HEADERS", ends: .stream).adding(content(1), on: 1),
        HostileBytes("no status", ends: .stream).headers([]),
        HostileBytes("status 101", ends: .stream).headers([(":status", "101")]),
        HostileBytes("status of two digits", ends: .stream).headers([(":status", "20")]),
        HostileBytes("two statuses", ends: .stream).headers(ok + ok),
        HostileBytes("method in a response", ends: .stream).headers(ok + [(":method", "GET")]),
        HostileBytes("status after a field", ends: .stream).headers([("a", "b"), (":status", "200")]),
        HostileBytes("upper case in a name", ends: .stream).headers(ok + [("X-A", "b")]),
        HostileBytes("line feed in a value", ends: .stream).headers(ok + [("a", "b\nc: d")]),
        HostileBytes("field connection", ends: .stream).headers(ok + [("connection", "close")]),
        HostileBytes("field transfer-encoding", ends: .stream).headers(ok + [("transfer-encoding", "chunked")]),
        HostileBytes("content longer than announced", ends: .stream).headers(ok + [("content-length", "3")])
            .adding(content(4), on: 1),
        HostileBytes("content shorter than announced", ends: .stream).headers(ok + [("content-length", "9")])
            .adding(.data([97], endsStream: true), on: 1),
        HostileBytes("different lengths", ends: .stream)
            .headers(ok + [("content-length", "3"), ("content-length", "4")]),
        HostileBytes("HEADERS without END_STREAM after the content", ends: .stream).headers(ok)
            .adding(content(1), on: 1).headers([("a", "b")]),
        HostileBytes("pseudo-header field in trailers", ends: .stream).headers(ok).headers(ok, endsStream: true),
        HostileBytes("interim response that ends the stream", ends: .stream)
            .headers([(":status", "103")], endsStream: true),
        HostileBytes("RST_STREAM", ends: .stream).adding(.resetStream(.internalError), on: 1),
        HostileBytes("RST_STREAM inside the content", ends: .stream).headers(ok).adding(content(1), on: 1)
            .adding(.resetStream(.noError), on: 1),
    ]

    private static let floods = [
        HostileBytes("100 CONTINUATION frames").headers(ok, endsHeaders: false)
            .adding(.continuation([0, 1, 97, 1, 98], endsHeaders: false), on: 1, count: 100),
        HostileBytes("5,000 pings").adding(.ping(1), count: 5_000),
        HostileBytes("5,000 settings").adding(.settings([]), count: 5_000),
        HostileBytes("5,000 empty DATA frames").headers(ok).adding(.data([]), on: 1, count: 5_000),
        HostileBytes("5,000 unknown frames").frame(0x77, [1]).adding(
            .unknown(HTTP2FrameType(rawValue: 0x77)), count: 5_000),
        HostileBytes("5,000 window updates").adding(.windowUpdate(1), count: 5_000),
        HostileBytes("100 interim responses", ends: .stream).headers([(":status", "103")])
            .repeated(100) { $0.headers([(":status", "103")]) },
        HostileBytes("content beyond the window", ends: .stream).headers(ok).adding(content(16_384), on: 1, count: 80),
        HostileBytes("fields above the limit", ends: .stream).bigFields(),
    ]

    private func repeated(_ count: Int, _ add: (HostileBytes) -> HostileBytes) -> HostileBytes {
        (0..<count).reduce(self) { bytes, _ in add(bytes) }
    }

    /// Adds a response of 900 fields that count as 66 KiB, in three frames.
    private func bigFields() -> HostileBytes {
        var block: [UInt8] = [0x88]
        for _ in 0..<900 { block += [0, 1, 97, 41] + [UInt8](repeating: 98, count: 41) }
        let size = 16_384
        var all = adding(.headers(HTTP2HeadersFrame(block.prefix(size), endsHeaders: false)), on: 1)
        var rest = block.dropFirst(size)
        while !rest.isEmpty {
            let part = rest.prefix(size)
            rest = rest.dropFirst(size)
            all = all.adding(.continuation(part, endsHeaders: rest.isEmpty), on: 1)
        }
        return all
    }
}

extension Loopback {
    @Suite("Hostile HTTP/2 servers")
    struct HTTP2HostileTests {
        private static func engine() -> HTTPEngine {
            var configuration = HTTPEngine.Configuration()
            configuration.usesPriorKnowledge = { _ in true }
            configuration.http2.settings.initialWindowSize = 65_535
            configuration.http2.settingsTimeout = .seconds(36_000)
            return HTTPEngine(configuration)
        }

        /// Sends a request and reads its whole response. Returns whether either step fails.
        private static func fails(_ engine: HTTPEngine, _ uri: String) async throws -> Bool {
            var request = try #require(HTTPRequestValue(uri: uri))
            request.idleTimeout = nil
            do {
                let response = try await engine.execute(request)
                while try await response.read() != nil {}
                return false
            } catch {
                return true
            }
        }

        @Test("Each violation ends the request, and the connection if it must", arguments: HostileBytes.all)
        func violation(_ hostile: HostileBytes) async throws {
            let server = try ScriptedServer { peer in
                try await HostileBytes.awaitRequest(peer)
                try await peer.socket.write(Data(hostile.bytes))
                if hostile.testDescription.hasPrefix("end of the stream") { return }
                while try await !peer.socket.read().isEmpty {}
            }
            let engine = Self.engine()
            #expect(try await Self.fails(engine, server.uri()))
            switch hostile.extent {
            case .connection:
                #expect(await eventually { engine.connectionCount == 0 })
            case .stream: #expect(engine.connectionCount == 1)
            }
            engine.shutDown()
        }

        @Test("No descriptor is left by hostile servers")
        func descriptors() async {
            await #expect(processExitsWith: .success) {
                Watchdog.arm(seconds: 600)
                try await HostileServers().expectNoLeak()
            }
        }
    }
}

/// Requests to servers that send every row of the table.
private struct HostileServers {
    func expectNoLeak() async throws {
        try await run()
        let before = ConnectionCycles.descriptorCount
        for _ in 0..<3 { try await run() }
        let isUnchanged = await eventually { ConnectionCycles.descriptorCount <= before }
        #expect(isUnchanged, "\(ConnectionCycles.descriptorCount) descriptors, \(before) before")
    }

    private func run() async throws {
        for hostile in HostileBytes.all {
            let server = try ScriptedServer { peer in
                try await HostileBytes.awaitRequest(peer)
                try await peer.socket.write(Data(hostile.bytes))
                if hostile.extent == .stream { while try await !peer.socket.read().isEmpty {} }
            }
            var configuration = HTTPEngine.Configuration()
            configuration.usesPriorKnowledge = { _ in true }
            configuration.http2.settings.initialWindowSize = 65_535
            let engine = HTTPEngine(configuration)
            let request = try #require(HTTPRequestValue(uri: server.uri()))
            let response = try? await engine.execute(request)
            while let response, (try? await response.read()) ?? nil != nil {}
            engine.shutDown()
            server.stop()
            #expect(await eventually { engine.connectionCount == 0 })
        }
    }
}
