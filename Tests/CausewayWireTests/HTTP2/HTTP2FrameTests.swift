import CausewayWire
import Testing

@Suite("HTTP/2 frames (RFC 9113 §6)")
struct HTTP2FrameTests {
    struct Vector: Decodable {
        struct Frame: Decodable {
            struct Payload: Decodable {
                var padding_length: UInt8?
                var weight: Int?
            }

            var length: Int
            var frame_payload: Payload
            var flags: UInt8
            var stream_identifier: UInt32
            var type: UInt8
        }

        var wire: String
        var error: [UInt32]?
        var frame: Frame?
    }

    /// Returns all frames of the input, with the pieces of each DATA frame joined.
    private func read(_ bytes: [UInt8], piece: Int = .max) throws -> [HTTP2FrameReader.Item] {
        var reader = HTTP2FrameReader()
        var items: [HTTP2FrameReader.Item] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            reader.append(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            while let item = try reader.next() { add(item, to: &items) }
        }
        #expect(reader.isBetweenFrames)
        return items
    }

    private func add(_ item: HTTP2FrameReader.Item, to items: inout [HTTP2FrameReader.Item]) {
        guard case .data(let piece) = item, !piece.isFirst, case .data(var last) = items.last else {
            return items.append(item)
        }
        last.bytes += piece.bytes
        last.isLast = piece.isLast
        items[items.count - 1] = .data(last)
    }

    @Test("The vectors of http2-frame-test-case", arguments: HTTPVectors.files("http2-frames"))
    func vectors(_ file: String) throws {
        let vector = try HTTPVectors.decode(Vector.self, file)
        let wire = bytes(hex: vector.wire)
        guard let expected = vector.frame else {
            let violation = #expect(throws: HTTP2Violation.self) { try read(wire) }
            #expect(vector.error?.contains(violation?.code.rawValue ?? 0) == true)
            return
        }
        let parsed = HTTP2FrameHeader(wire.span)
        let header = try #require(parsed)
        #expect(header.length == expected.length && header.flags.rawValue == expected.flags)
        #expect(header.type.rawValue == expected.type && header.streamID == expected.stream_identifier)
        let frame = try HTTP2Frame(header, payload: wire[9...])
        var written: [UInt8] = []
        frame.serialize(streamID: header.streamID, into: &written)
        let padding = Int(expected.frame_payload.padding_length ?? 0)
        #expect(written == wire.dropLast(padding) + [UInt8](repeating: 0, count: padding))
        if case .headers(let headers) = frame, let weight = expected.frame_payload.weight {
            #expect(headers.dependency.map { Int($0.weight) + 1 } == weight)
        }
    }

    static let frames: [(HTTP2StreamID, HTTP2Frame)] = [
        (1, .data(Array("content".utf8)[...], endsStream: true)),
        (1, .data([1, 2, 3], padding: 4)), (3, .data([], padding: 0, endsStream: true)), (3, .data([])),
        (1, .headers(HTTP2HeadersFrame([0x82], endsHeaders: false, endsStream: true))),
        (
            1,
            .headers(
                HTTP2HeadersFrame(
                    [0x82, 0x84], padding: 3,
                    dependency: HTTP2Dependency(isExclusive: true, streamID: 5, weight: 255)))
        ),
        (7, .priority(HTTP2Dependency(isExclusive: false, streamID: 3, weight: 15))),
        (5, .resetStream(.cancel)),
        (0, .settings([])), (0, .settings([HTTP2Setting(.maxFrameSize, 1 << 20), HTTP2Setting(.enablePush, 0)])),
        (0, .settingsAcknowledgment), (1, .pushPromise(2, [0x82], padding: 1, endsHeaders: false)),
        (0, .ping(0x0102_0304_0506_0708)), (0, .ping(.max, isAcknowledgment: true)),
        (0, .goAway(lastStreamID: .largestStream, .enhanceYourCalm, debugData: Array("calm".utf8)[...])),
        (0, .windowUpdate(1)), (9, .windowUpdate(0x7FFF_FFFF)), (1, .continuation([0x84])),
        (1, .continuation([], endsHeaders: false)), (0, .priorityUpdate(3, Array("u=1, i".utf8)[...])),
    ]

    @Test("Frames are parsed as they were written, however the input is split", arguments: [1, 2, 3, 5, 8, 10, 1000])
    func roundTrips(piece: Int) throws {
        var wire: [UInt8] = []
        for (streamID, frame) in Self.frames { frame.serialize(streamID: streamID, into: &wire) }
        let items = try read(wire, piece: piece)
        #expect(items.count == Self.frames.count)
        for (item, (streamID, frame)) in zip(items, Self.frames) {
            switch (item, frame) {
            case (.data(let data), .data(let content, let padding, let endsStream)):
                #expect(data.streamID == streamID && data.bytes == content && data.endsStream == endsStream)
                let extra = padding.map { Int($0) + 1 } ?? 0
                #expect(data.flowControlledCount == content.count + extra && data.paddingCount == extra)
            case (.frame(let header, let read), _): #expect(header.streamID == streamID && read == frame)
            default: Issue.record("\(item) instead of \(frame)")
            }
        }
    }

    @Test("§5.5: frames of unknown types are skipped without a copy")
    func skipsUnknown() throws {
        var wire: [UInt8] = []
        HTTP2FrameHeader(length: 5000, type: HTTP2FrameType(rawValue: 0xFA), streamID: 9).serialize(into: &wire)
        wire += [UInt8](repeating: 0xAA, count: 5000)
        HTTP2Frame.ping(1).serialize(streamID: 0, into: &wire)
        for piece in [7, 5009, .max] {
            let items = try read(wire, piece: piece)
            #expect(items.count == 2)
            guard case .frame(_, let frame) = items[0] else { continue }
            #expect(frame == .unknown(HTTP2FrameType(rawValue: 0xFA)))
        }
    }

    @Test("§4.1: the reserved bit is ignored")
    func ignoresReservedBit() throws {
        let header = HTTP2FrameHeader(bytes(hex: "000000 00 01 ffffffff").span)
        #expect(header?.streamID == .largestStream)
    }

    @Test("§4.2: a frame that is too long is refused at its header")
    func refusesAtHeader() {
        var reader = HTTP2FrameReader()
        reader.append(bytes(hex: "004001 00 00 00000001")[...])
        let violation = HTTP2Violation(.frameSizeError, "DATA frame of 16385 bytes")
        #expect(throws: violation) { try reader.next() }
        var wider = HTTP2FrameReader()
        wider.maximumFrameSize = 16385
        wider.append(bytes(hex: "004001 00 00 00000001")[...])
        #expect(throws: Never.self) { try wider.next() }
    }

    @Test("§6.3: after a stream error the reader is at the next frame")
    func continuesAfterStreamError() throws {
        var reader = HTTP2FrameReader()
        reader.append(bytes(hex: "000004 02 00 00000001 00000000")[...])
        let violation = HTTP2Violation(.frameSizeError, stream: 1, "length 4 of a PRIORITY frame")
        #expect(throws: violation) { try reader.next() }
        reader.append(bytes(hex: "000004 08 00 00000001 00000000")[...])
        #expect(throws: HTTP2Violation(.protocolError, stream: 1, "window increment of 0")) { try reader.next() }
        #expect(reader.isBetweenFrames)
    }

    struct Malformed: Sendable, CustomTestStringConvertible {
        let name: String
        let hex: String
        let violation: HTTP2Violation
        var testDescription: String { name }
    }

    static let malformed: [Malformed] = [
        Malformed(
            name: "§6.1: DATA with the padding flag only", hex: "000000 00 08 00000001",
            violation: HTTP2Violation(.frameSizeError, "DATA frame without the length of its padding")),
        Malformed(
            name: "§6.2: HEADERS with the padding flag only", hex: "000000 01 08 00000001",
            violation: HTTP2Violation(.frameSizeError, "HEADERS frame without the length of its padding")),
        Malformed(
            name: "§6.2: HEADERS shorter than its priority fields", hex: "000004 01 24 00000001 00000000",
            violation: HTTP2Violation(.frameSizeError, "HEADERS frame without its priority fields")),
        Malformed(
            name: "§6.6: PUSH_PROMISE without a stream", hex: "000003 05 04 00000001 000000",
            violation: HTTP2Violation(.frameSizeError, "length 3 of a PUSH_PROMISE frame")),
        Malformed(
            name: "§6.10: CONTINUATION on stream 0", hex: "000000 09 04 00000000",
            violation: HTTP2Violation(.protocolError, "CONTINUATION frame on stream 0")),
        Malformed(
            name: "RFC 9218 §7.1: PRIORITY_UPDATE on a stream", hex: "000004 10 00 00000001 00000001",
            violation: HTTP2Violation(.protocolError, "PRIORITY_UPDATE frame on a stream")),
        Malformed(
            name: "RFC 9218 §7.1: PRIORITY_UPDATE of stream 0", hex: "000004 10 00 00000000 00000000",
            violation: HTTP2Violation(.protocolError, "priority of stream 0")),
        Malformed(
            name: "RFC 9218 §7.1: PRIORITY_UPDATE without a stream", hex: "000003 10 00 00000000 000000",
            violation: HTTP2Violation(.frameSizeError, "length 3 of a PRIORITY_UPDATE frame")),
    ]

    @Test("Malformed frames", arguments: malformed)
    func rejects(_ vector: Malformed) {
        #expect(throws: vector.violation) { try read(bytes(hex: vector.hex)) }
    }
}
