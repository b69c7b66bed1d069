import CausewayProtocols
import CausewayWire
import Testing

@Suite("HTTP/2 errors: frames (RFC 9113 §3, §4, §6)")
struct HTTP2FrameErrorTests {
    typealias Case = HTTP2ErrorCase

    @Test("RFC 9113 §3 and §4", arguments: starting + framing)
    func framingErrors(_ row: Case) throws {
        for piece in [Int.max, 1, 7] { try row.check(piece: piece) }
    }

    @Test("RFC 9113 §6", arguments: content + settings + control + windows)
    func frameErrors(_ row: Case) throws {
        for piece in [Int.max, 1, 7] { try row.check(piece: piece) }
    }

    static let starting: [Case] = [
        Case("§3.4: HTTP/1.1 instead of the preface", .fresh(.server), .connection(.protocolError)) {
            $0.raw(Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
        },
        Case("§3.4: preface with a wrong last byte", .fresh(.server), .connection(.protocolError)) {
            $0.raw(HTTP2Wire.preface.dropLast() + [0])
        },
        Case("§3.4: preface followed by HEADERS", .fresh(.server), .connection(.protocolError)) {
            $0.raw(HTTP2Wire.preface)
            $0.headers(1, HTTP2Wire.get)
        },
        Case("§3.4: preface followed by DATA", .fresh(.server), .connection(.protocolError)) {
            $0.raw(HTTP2Wire.preface)
            $0.data(1)
        },
        Case("§3.4: preface followed by an acknowledgment", .fresh(.server), .connection(.protocolError)) {
            $0.raw(HTTP2Wire.preface)
            $0.frame(.settingsAcknowledgment)
        },
        Case("§3.4: server that starts with PING", .fresh(.client), .connection(.protocolError)) { $0.frame(.ping(1)) },
        Case("§3.4: server that starts with an unknown frame", .fresh(.client), .connection(.protocolError)) {
            $0.frame(0xFA, on: 0)
        },
        Case("§3.4: server that answers with HTTP/1.1", .fresh(.client), .connection(.frameSizeError)) {
            $0.raw(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        },
    ]

    static let framing: [Case] = [
        Case("§4.2: DATA above SETTINGS_MAX_FRAME_SIZE", .server, .connection(.frameSizeError)) {
            $0.headers(1, HTTP2Wire.post, endsStream: false)
            $0.data(1, count: 16385)
        },
        Case("§4.2: HEADERS above SETTINGS_MAX_FRAME_SIZE", .server, .connection(.frameSizeError)) {
            $0.frame(1, flags: 4, on: 1, length: 16385)
        },
        Case("§4.2: unknown frame above SETTINGS_MAX_FRAME_SIZE", .server, .connection(.frameSizeError)) {
            $0.frame(0xFA, on: 1, length: 0xFF_FFFF)
        },
        Case("§4.3: block with an invalid index", .server, .connection(.compressionError)) {
            $0.frame(1, flags: 5, on: 1, [0xBE])
        },
        Case("§4.3: block that is cut off", .server, .connection(.compressionError)) {
            $0.frame(1, flags: 5, on: 1, [0x82, 0x40, 0x0A])
        },
        Case("§4.3: block with an invalid Huffman code", .server, .connection(.compressionError)) {
            $0.frame(1, flags: 5, on: 1, [0x00, 0x84, 0xFF, 0xFF, 0xFF, 0xFF, 0x00])
        },
        Case("§4.3: invalid block on a stream that was reset", .client("POST"), .connection(.compressionError)) {
            // The first response is malformed, so the client resets the stream. The client must still decode a later
            // field block on this stream, because each block updates the HPACK state.
            $0.headers(1, [(":status", "abc")])
            $0.frame(1, flags: 5, on: 1, [0x80])
        },
        Case("§4.3: invalid block of trailers", .server, .connection(.compressionError)) {
            $0.headers(1, HTTP2Wire.post, endsStream: false)
            $0.frame(1, flags: 5, on: 1, [0xFF])
        },
        Case("§4.3.1: table size above SETTINGS_HEADER_TABLE_SIZE", .server, .connection(.compressionError)) {
            $0.frame(1, flags: 5, on: 1, [0x3F, 0xE2, 0x1F, 0x82])
        },
        Case("§4.3: PING inside a field block", .server, .connection(.protocolError)) {
            $0.headers(1, HTTP2Wire.get, endsHeaders: false)
            $0.frame(.ping(1))
        },
    ]

    static let content: [Case] = [
        Case("§6.1: DATA on stream 0", .server, .connection(.protocolError)) { $0.data(0) },
        Case("§6.1: DATA with padding as long as the payload", .server, .connection(.protocolError)) {
            $0.headers(1, HTTP2Wire.post, endsStream: false)
            $0.frame(0, flags: 8, on: 1, [4, 0, 0, 0])
        },
        Case("§6.1: DATA with padding longer than the payload", .server, .connection(.protocolError)) {
            $0.headers(1, HTTP2Wire.post, endsStream: false)
            $0.frame(0, flags: 8, on: 1, [255, 0, 0, 0])
        },
        Case("§6.1: DATA without the length of its padding", .server, .connection(.frameSizeError)) {
            $0.headers(1, HTTP2Wire.post, endsStream: false)
            $0.frame(0, flags: 8, on: 1)
        },
        Case("§6.1: DATA on a stream that is half-closed", .server, .stream(1, .streamClosed)) {
            $0.headers(1, HTTP2Wire.get)
            $0.data(1)
        },
        Case("§6.2: HEADERS on stream 0", .server, .connection(.protocolError)) { $0.headers(0, HTTP2Wire.get) },
        Case("§6.2: HEADERS with padding longer than the payload", .server, .connection(.protocolError)) {
            $0.frame(1, flags: 0xD, on: 1, [9, 0x82])
        },
        Case("§6.2: HEADERS without the length of its padding", .server, .connection(.frameSizeError)) {
            $0.frame(1, flags: 0xD, on: 1)
        },
        Case("§6.2: HEADERS shorter than its priority fields", .server, .connection(.frameSizeError)) {
            $0.frame(1, flags: 0x25, on: 1, [0, 0, 0, 0])
        },
        Case("§6.2: HEADERS followed by HEADERS of another stream", .server, .connection(.protocolError)) {
            $0.headers(1, HTTP2Wire.get, endsHeaders: false)
            $0.headers(3, HTTP2Wire.get)
        },
        Case("§6.2: HEADERS followed by DATA", .server, .connection(.protocolError)) {
            $0.headers(1, HTTP2Wire.post, endsStream: false, endsHeaders: false)
            $0.data(1)
        },
        Case("§6.2: HEADERS followed by an unknown frame", .server, .connection(.protocolError)) {
            $0.headers(1, HTTP2Wire.get, endsHeaders: false)
            $0.frame(0xFA, on: 1)
        },
        Case("§6.3: PRIORITY on stream 0", .server, .connection(.protocolError)) {
            $0.frame(2, on: 0, [0, 0, 0, 0, 0])
        },
        Case("§6.3: PRIORITY of 4 bytes", .server, .stream(1, .frameSizeError)) {
            $0.headers(1, HTTP2Wire.get)
            $0.frame(2, on: 1, [0, 0, 0, 0])
        },
        Case("§6.3: PRIORITY of 6 bytes on an idle stream", .server, .connection(.frameSizeError)) {
            $0.frame(2, on: 1, [0, 0, 0, 0, 0, 0])
        },
        Case("§6.4: RST_STREAM on stream 0", .server, .connection(.protocolError)) { $0.frame(.resetStream(.cancel)) },
        Case("§6.4: RST_STREAM on an idle stream", .server, .connection(.protocolError)) {
            $0.frame(.resetStream(.cancel), on: 1)
        },
        Case("§6.4: RST_STREAM of 3 bytes", .server, .connection(.frameSizeError)) {
            $0.headers(1, HTTP2Wire.get)
            $0.frame(3, on: 1, [0, 0, 0])
        },
        Case("§6.4: RST_STREAM of 5 bytes", .server, .connection(.frameSizeError)) {
            $0.headers(1, HTTP2Wire.get)
            $0.frame(3, on: 1, [0, 0, 0, 0, 0])
        },
    ]

    static let settings: [Case] = [
        Case("§6.5: SETTINGS on a stream", .server, .connection(.protocolError)) { $0.frame(4, on: 1) },
        Case("§6.5: SETTINGS of 5 bytes", .server, .connection(.frameSizeError)) {
            $0.frame(4, on: 0, [0, 1, 0, 0, 0])
        },
        Case("§6.5: acknowledgment with a payload", .server, .connection(.frameSizeError)) {
            $0.frame(4, flags: 1, on: 0, [0, 1, 0, 0, 0, 0])
        },
        Case("§6.5.3: acknowledgment that was not asked for", .server, .connection(.protocolError)) {
            $0.frame(.settingsAcknowledgment)
        },
        Case("§6.5.2: SETTINGS_ENABLE_PUSH of 2", .server, .connection(.protocolError)) { $0.setting(.enablePush, 2) },
        Case("§6.5.2: SETTINGS_ENABLE_PUSH of 1 from a server", .client("GET"), .connection(.protocolError)) {
            $0.setting(.enablePush, 1)
        },
        Case("§6.5.2: SETTINGS_INITIAL_WINDOW_SIZE of 2^31", .server, .connection(.flowControlError)) {
            $0.setting(.initialWindowSize, 1 << 31)
        },
        Case("§6.5.2: SETTINGS_MAX_FRAME_SIZE of 16383", .server, .connection(.protocolError)) {
            $0.setting(.maxFrameSize, 16383)
        },
        Case("§6.5.2: SETTINGS_MAX_FRAME_SIZE of 2^24", .server, .connection(.protocolError)) {
            $0.setting(.maxFrameSize, 1 << 24)
        },
        Case("RFC 8441 §3: SETTINGS_ENABLE_CONNECT_PROTOCOL of 2", .client("GET"), .connection(.protocolError)) {
            $0.setting(.enableConnectProtocol, 2)
        },
        Case("RFC 8441 §3: SETTINGS_ENABLE_CONNECT_PROTOCOL revoked", .client("GET"), .connection(.protocolError)) {
            $0.setting(.enableConnectProtocol, 1)
            $0.setting(.enableConnectProtocol, 0)
        },
        Case("RFC 9218 §2.1: SETTINGS_NO_RFC7540_PRIORITIES of 2", .server, .connection(.protocolError)) {
            $0.setting(.noRFC7540Priorities, 2)
        },
        Case("§6.5.2: wrong value after a right one", .fresh(.client), .connection(.protocolError)) {
            $0.settings([HTTP2Setting(.maxFrameSize, 16384), HTTP2Setting(.maxFrameSize, 0)])
        },
    ]

    static let control: [Case] = [
        Case("§6.6: PUSH_PROMISE on stream 0", .client("GET"), .connection(.protocolError)) {
            $0.frame(.pushPromise(2, [0x82]))
        },
        Case("§6.6: PUSH_PROMISE although push is disabled", .client("GET"), .connection(.protocolError)) {
            $0.frame(.pushPromise(2, [0x82]), on: 1)
        },
        Case("§6.6: PUSH_PROMISE on an idle stream", .client("GET"), .connection(.protocolError)) {
            $0.frame(.pushPromise(2, [0x82]), on: 3)
        },
        Case("§6.6: PUSH_PROMISE of an odd stream", .client("GET"), .connection(.protocolError)) {
            $0.frame(5, flags: 4, on: 1, [0, 0, 0, 3, 0x82])
        },
        Case("§6.6: PUSH_PROMISE of stream 0", .client("GET"), .connection(.protocolError)) {
            $0.frame(5, flags: 4, on: 1, [0, 0, 0, 0, 0x82])
        },
        Case("§6.6: PUSH_PROMISE of 3 bytes", .client("GET"), .connection(.frameSizeError)) {
            $0.frame(5, flags: 4, on: 1, [0, 0, 0])
        },
        Case("§6.6: PUSH_PROMISE with padding longer than the payload", .client("GET"), .connection(.protocolError)) {
            $0.frame(5, flags: 0xC, on: 1, [9, 0, 0, 0, 2])
        },
        Case("§6.7: PING on a stream", .server, .connection(.protocolError)) {
            $0.frame(6, on: 1, [0, 0, 0, 0, 0, 0, 0, 0])
        },
        Case("§6.7: PING of 7 bytes", .server, .connection(.frameSizeError)) {
            $0.frame(6, on: 0, [0, 0, 0, 0, 0, 0, 0])
        },
        Case("§6.7: acknowledgment of PING of 9 bytes", .server, .connection(.frameSizeError)) {
            $0.frame(6, flags: 1, on: 0, [0, 0, 0, 0, 0, 0, 0, 0, 0])
        },
        Case("§6.8: GOAWAY on a stream", .server, .connection(.protocolError)) {
            $0.frame(7, on: 1, [0, 0, 0, 0, 0, 0, 0, 0])
        },
        Case("§6.8: GOAWAY of 7 bytes", .server, .connection(.frameSizeError)) {
            $0.frame(7, on: 0, [0, 0, 0, 0, 0, 0, 0])
        },
        Case("§6.8: GOAWAY with a higher stream than before", .client("GET"), .connection(.protocolError)) {
            $0.frame(.goAway(lastStreamID: 1, .noError))
            $0.frame(.goAway(lastStreamID: 3, .noError))
        },
        Case("§6.10: CONTINUATION on stream 0", .server, .connection(.protocolError)) {
            $0.headers(1, HTTP2Wire.get, endsHeaders: false)
            $0.frame(.continuation([]))
        },
        Case("§6.10: CONTINUATION at the start", .server, .connection(.protocolError)) {
            $0.frame(.continuation([]), on: 1)
        },
        Case("§6.10: CONTINUATION after END_HEADERS", .server, .connection(.protocolError)) {
            $0.headers(1, HTTP2Wire.get)
            $0.frame(.continuation([]), on: 1)
        },
        Case("§6.10: CONTINUATION after the end of CONTINUATION", .server, .connection(.protocolError)) {
            $0.headers(1, HTTP2Wire.get, endsHeaders: false)
            $0.frame(.continuation([]), on: 1)
            $0.frame(.continuation([]), on: 1)
        },
        Case("§6.10: CONTINUATION of another stream", .server, .connection(.protocolError)) {
            $0.headers(1, HTTP2Wire.get, endsHeaders: false)
            $0.frame(.continuation([]), on: 3)
        },
        Case("RFC 9218 §7.1: PRIORITY_UPDATE on a stream", .server, .connection(.protocolError)) {
            $0.frame(0x10, on: 1, [0, 0, 0, 1])
        },
        Case("RFC 9218 §7.1: PRIORITY_UPDATE of 3 bytes", .server, .connection(.frameSizeError)) {
            $0.frame(0x10, on: 0, [0, 0, 0])
        },
        Case("RFC 9218 §7.1: PRIORITY_UPDATE of stream 0", .server, .connection(.protocolError)) {
            $0.frame(0x10, on: 0, [0, 0, 0, 0])
        },
        Case("RFC 9218 §7.1: PRIORITY_UPDATE of an idle pushed stream", .server, .connection(.protocolError)) {
            $0.frame(0x10, on: 0, [0, 0, 0, 2])
        },
        Case("RFC 9218 §7.1: PRIORITY_UPDATE of a server", .client("GET"), .connection(.protocolError)) {
            $0.frame(.priorityUpdate(1, Array("u=1".utf8)[...]))
        },
    ]

    static let windows: [Case] = [
        Case("§6.9: WINDOW_UPDATE of 3 bytes", .server, .connection(.frameSizeError)) {
            $0.frame(8, on: 0, [0, 0, 1])
        },
        Case("§6.9: WINDOW_UPDATE of 5 bytes on a stream", .server, .connection(.frameSizeError)) {
            $0.headers(1, HTTP2Wire.get)
            $0.frame(8, on: 1, [0, 0, 0, 0, 1])
        },
        Case("§6.9: increment of 0 for the connection", .server, .connection(.protocolError)) {
            $0.frame(8, on: 0, [0, 0, 0, 0])
        },
        Case("§6.9: increment of 0 for a stream", .server, .stream(1, .protocolError)) {
            $0.headers(1, HTTP2Wire.get)
            $0.frame(8, on: 1, [0x80, 0, 0, 0])
        },
        Case("§6.9: increment of 0 for an idle stream", .server, .connection(.protocolError)) {
            $0.frame(8, on: 1, [0, 0, 0, 0])
        },
        Case("§6.9.1: window of the connection above 2^31-1", .server, .connection(.flowControlError)) {
            $0.frame(.windowUpdate(0x7FFF_FFFF))
        },
        Case("§6.9.1: window of a stream above 2^31-1", .server, .stream(1, .flowControlError)) {
            $0.headers(1, HTTP2Wire.get)
            $0.frame(.windowUpdate(0x7FFF_FFFF), on: 1)
        },
        Case("§6.9.2: setting that moves a window above 2^31-1", .server, .connection(.flowControlError)) {
            $0.headers(1, HTTP2Wire.get)
            $0.frame(.windowUpdate(0x7FFF_0000), on: 1)
            $0.setting(.initialWindowSize, 0x7FFF_FFFF)
        },
    ]
}
