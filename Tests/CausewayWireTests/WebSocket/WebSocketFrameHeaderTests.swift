import CausewayWire
import Testing

@Suite("WebSocket frame header (RFC 6455 §5.2)")
struct WebSocketFrameHeaderTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let expected: Result<WebSocketFrameHeader, WireError>
        var testDescription: String { name }
    }

    private static let mask = WebSocketMask(key: 0x37FA_213D)

    static let vectors: [Vector] = [
        Vector(
            name: "text, 5 bytes", bytes: [0x81, 0x05],
            expected: .success(WebSocketFrameHeader(opcode: .text, payloadLength: 5))),
        Vector(
            name: "masked text", bytes: [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D],
            expected: .success(WebSocketFrameHeader(opcode: .text, mask: mask, payloadLength: 5))),
        Vector(
            name: "first fragment", bytes: [0x01, 0x03],
            expected: .success(WebSocketFrameHeader(isFinal: false, opcode: .text, payloadLength: 3))),
        Vector(
            name: "256 bytes", bytes: [0x82, 0x7E, 0x01, 0x00],
            expected: .success(WebSocketFrameHeader(opcode: .binary, payloadLength: 256))),
        Vector(
            name: "65536 bytes", bytes: [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0],
            expected: .success(WebSocketFrameHeader(opcode: .binary, payloadLength: 65536))),
        Vector(
            name: "the longest", bytes: [0x82, 0x7F, 0x7F, 255, 255, 255, 255, 255, 255, 255],
            expected: .success(WebSocketFrameHeader(opcode: .binary, payloadLength: .max))),
        Vector(
            name: "highest bit of the length", bytes: [0x82, 0x7F, 0x80, 0, 0, 0, 0, 0, 0, 0],
            expected: .failure(.invalid("length", at: 2))),
        Vector(
            name: "125 in 16 bits", bytes: [0x82, 0x7E, 0, 125],
            expected: .failure(.invalid("length not in its shortest form", at: 2))),
        Vector(
            name: "65535 in 64 bits", bytes: [0x82, 0x7F, 0, 0, 0, 0, 0, 0, 255, 255],
            expected: .failure(.invalid("length not in its shortest form", at: 2))),
        Vector(name: "RSV1", bytes: [0xC1], expected: .failure(.invalid("reserved bits", at: 0))),
        Vector(name: "RSV2", bytes: [0xA1], expected: .failure(.invalid("reserved bits", at: 0))),
        Vector(name: "RSV3", bytes: [0x91], expected: .failure(.invalid("reserved bits", at: 0))),
        Vector(name: "opcode 3", bytes: [0x83], expected: .failure(.invalid("opcode", at: 0))),
        Vector(name: "opcode 11", bytes: [0x8B], expected: .failure(.invalid("opcode", at: 0))),
        Vector(
            name: "fragmented ping", bytes: [0x09], expected: .failure(.invalid("fragmented control frame", at: 0))),
        Vector(
            name: "ping of 126", bytes: [0x89, 0x7E],
            expected: .failure(.invalid("length of a control frame", at: 1))),
        Vector(name: "nothing", bytes: [], expected: .failure(.truncated(needed: 1, available: 0, at: 0))),
        Vector(
            name: "half a key", bytes: [0x81, 0x85, 1, 2],
            expected: .failure(.truncated(needed: 4, available: 2, at: 2))),
    ]

    @Test("The fields of a header", arguments: vectors)
    func parses(_ vector: Vector) {
        var reader = ByteReader(vector.bytes.span)
        let parsed: Result<WebSocketFrameHeader, WireError>
        do { parsed = .success(try WebSocketFrameHeader(parsing: &reader)) } catch { parsed = .failure(error) }
        #expect(parsed == vector.expected)
        guard case .success(let header) = parsed else { return }
        #expect(header.byteCount == vector.bytes.count)
        var written: [UInt8] = []
        header.serialize(into: &written)
        #expect(written == vector.bytes)
    }

    @Test("Every first and second byte is accepted or refused, and accepted headers are written back unchanged")
    func firstBytes() {
        var accepted = 0
        for pair in 0..<65536 {
            let bytes = [UInt8(pair >> 8), UInt8(pair & 255)] + [UInt8](repeating: 0x01, count: 12)
            var reader = ByteReader(bytes.span)
            guard let header = try? WebSocketFrameHeader(parsing: &reader) else { continue }
            accepted += 1
            var written: [UInt8] = []
            header.serialize(into: &written)
            #expect(written == Array(bytes[..<reader.offset]))
        }
        // The three data opcodes allow 128 lengths, each with and without the FIN bit. The three control opcodes allow
        // 126 lengths. Each frame can be masked or unmasked.
        #expect(accepted == (3 * 2 * 128 + 3 * 126) * 2)
    }

    @Test("Byte by byte: more bytes are requested until the header is complete")
    func drips() {
        let bytes: [UInt8] = [0x82, 0xFF, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4]
        for count in 0..<bytes.count {
            let part = Array(bytes[..<count])
            var reader = ByteReader(part.span)
            var isTruncated = false
            do { _ = try WebSocketFrameHeader(parsing: &reader) } catch {
                if case .truncated = error { isTruncated = true }
            }
            #expect(isTruncated)
        }
    }
}

@Suite("WebSocket mask (RFC 6455 §5.3)")
struct WebSocketMaskTests {
    @Test("The masked Hello of RFC 6455 §5.7")
    func hello() {
        var bytes: [UInt8] = [0x7F, 0x9F, 0x4D, 0x51, 0x58]
        WebSocketMask(key: 0x37FA_213D).apply(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "Hello")
    }

    @Test("At any offset and length, each byte is combined with the matching byte of the key")
    func anyPlace() {
        let mask = WebSocketMask(key: 0x0102_0408)
        let key: [UInt8] = [1, 2, 4, 8]
        for count in 0..<40 {
            for offset in 0..<9 {
                let plain = (0..<count).map { UInt8($0 * 7 & 255) }
                let expected = plain.enumerated().map { $1 ^ key[($0 + offset) % 4] }
                var bytes = plain
                mask.apply(to: &bytes, offset: offset)
                #expect(bytes == expected)
                var slice = ([9, 9, 9] + plain)[3...]
                mask.apply(to: &slice, offset: offset)
                #expect(Array(slice) == expected)
            }
        }
    }

    @Test("From an offset in the array")
    func tail() {
        var bytes: [UInt8] = [1, 2, 3, 4, 5, 6]
        WebSocketMask(key: 0xFF00_0000).apply(to: &bytes, from: 2)
        #expect(bytes == [1, 2, 3 ^ 0xFF, 4, 5, 6])
    }
}
