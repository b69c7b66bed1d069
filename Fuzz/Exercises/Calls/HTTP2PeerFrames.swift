internal import CausewayWire

/// Generates a peer's frames. Most of them are valid.
struct HTTP2PeerFrames {
    private var encoder = HPACKEncoder()
    private var nextID: HTTP2StreamID = 1
    private let isClient: Bool

    /// Creates a generator for the frames of a client or a server.
    init(isClient: Bool) { self.isClient = isClient }

    mutating func next(_ choices: inout Exercise.Choices) -> [UInt8] {
        var bytes: [UInt8] = []
        switch choices.next(below: 16) {
        case 0, 1, 2: head(&choices, &bytes)
        case 3, 4: content(&choices, &bytes)
        case 5, 6: write(.windowUpdate(increment(&choices)), on: id(&choices) &- 1, &bytes)
        case 7: settings(&choices, &bytes)
        case 8: write(.settingsAcknowledgment, on: 0, &bytes)
        case 9: write(.ping(UInt64(choices.next()), isAcknowledgment: choices.next() & 1 == 0), on: 0, &bytes)
        case 10:
            write(.resetStream(HTTP2ErrorCode(rawValue: UInt32(choices.next(below: 14)))), on: id(&choices), &bytes)
        case 11: goAway(&choices, &bytes)
        case 12:
            write(.priorityUpdate(id(&choices), Array("u=\(choices.next(below: 9)), i".utf8)[...]), on: 0, &bytes)
        case 13: write(.ping(0x4341_5553_4557_4159, isAcknowledgment: true), on: 0, &bytes)
        case 14: bytes = choices.take(choices.next(below: 40))
        default: write(.unknown(HTTP2FrameType(rawValue: choices.next() | 0x20)), on: 0, &bytes)
        }
        return bytes
    }

    private func write(_ frame: HTTP2Frame, on id: HTTP2StreamID, _ bytes: inout [UInt8]) {
        frame.serialize(streamID: id & .largestStream, into: &bytes)
    }

    /// Returns a random stream identifier for a fuzzed frame.
    ///
    /// Usually it is one of the first 16 client streams. Otherwise it is stream 0 or an identifier that a client does
    /// not use.
    private func id(_ choices: inout Exercise.Choices) -> HTTP2StreamID {
        let choice = choices.next()
        return choice < 240 ? HTTP2StreamID(choice % 16) * 2 + 1 : HTTP2StreamID(choice)
    }

    private func increment(_ choices: inout Exercise.Choices) -> UInt32 {
        let choice = choices.next()
        return choice == 255 ? 0x7FFF_FFFF : choice == 254 ? 0x7FFF_0000 : UInt32(choice) * 16
    }

    private func goAway(_ choices: inout Exercise.Choices, _ bytes: inout [UInt8]) {
        let last = choices.next() < 64 ? HTTP2StreamID.largestStream : id(&choices)
        write(.goAway(lastStreamID: last, choices.next() & 3 == 0 ? .internalError : .noError), on: 0, &bytes)
    }

    private func settings(_ choices: inout Exercise.Choices, _ bytes: inout [UInt8]) {
        let value = choices.next()
        let setting: HTTP2Setting =
            switch choices.next(below: 5) {
            case 0: HTTP2Setting(.initialWindowSize, value == 255 ? 0x7FFF_FFFF : UInt32(value) * 8)
            case 1: HTTP2Setting(.headerTableSize, UInt32(value) * 32)
            case 2: HTTP2Setting(.maxConcurrentStreams, UInt32(value % 4))
            case 3: HTTP2Setting(.maxFrameSize, 16_384 + UInt32(value))
            default: HTTP2Setting(.enableConnectProtocol, UInt32(value & 1))
            }
        write(.settings([setting]), on: 0, &bytes)
    }

    private func content(_ choices: inout Exercise.Choices, _ bytes: inout [UInt8]) {
        let (count, options) = (choices.next(), choices.next())
        let content = [UInt8](repeating: count, count: Int(count) * (options & 8 == 0 ? 1 : 64))
        let padding: UInt8? = options & 4 == 0 ? nil : options
        write(.data(content[...], padding: padding, endsStream: options & 1 == 0), on: id(&choices), &bytes)
    }

    private mutating func head(_ choices: inout Exercise.Choices, _ bytes: inout [UInt8]) {
        let options = choices.next()
        var block: [UInt8] = []
        encoder.beginBlock(&block)
        var stream = id(&choices)
        if isClient {
            if options & 64 == 0 {
                stream = nextID
                nextID &+= 2
            }
            let method = ["GET", "POST", "HEAD", "CONNECT"][Int(options >> 3 & 3)]
            if options & 32 == 0 { request(method, &block) }
        } else if options & 32 == 0 {
            encoder.append(":status", ["200", "103", "204", "304", "404", "100"][choices.next(below: 6)], to: &block)
        }
        if options & 128 != 0 { encoder.append("content-length", String(choices.next()), to: &block) }
        encoder.append("x", String(repeating: "y", count: choices.next(below: 128) * 4), to: &block)
        let middle = options & 2 == 0 ? block.count : block.count / 2
        let isWhole = middle == block.count
        write(
            .headers(HTTP2HeadersFrame(block[..<middle], endsHeaders: isWhole, endsStream: options & 1 == 0)),
            on: stream, &bytes)
        if !isWhole { write(.continuation(block[middle...]), on: stream, &bytes) }
    }

    private mutating func request(_ method: String, _ block: inout [UInt8]) {
        encoder.append(":method", method, to: &block)
        if method != "CONNECT" {
            encoder.append(":scheme", "https", to: &block)
            encoder.append(":path", "/", to: &block)
        }
        encoder.append(":authority", "h", to: &block)
    }
}
