import CausewayProtocols
import CausewayTestKit
import CausewayTypes
import CausewayWire
import Synchronization
import Testing

@Suite("WebSocket stage")
struct WebSocketStageTests {
    /// A codec that decompresses each byte to 1,000 equal bytes. It counts the decompressed bytes.
    private final class ThousandfoldCodec: WebSocketCodec {
        private let state = Mutex((left: 0, total: 0))

        var decompressedCount: Int { state.withLock { $0.total } }

        func compress(_ bytes: ArraySlice<UInt8>, flushes: Bool) -> [UInt8]? { nil }
        func endCompressing() {}
        func endDecompressing() -> Bool { true }

        func decompress(_ bytes: ArraySlice<UInt8>, atMost limit: Int) -> WebSocketInflation {
            state.withLock { state in
                var consumed = 0
                while state.left < limit, consumed < bytes.count {
                    state.left += 1_000
                    consumed += 1
                }
                let count = min(state.left, limit)
                state.left -= count
                state.total += count
                return WebSocketInflation(
                    consumed: consumed, output: [UInt8](repeating: 7, count: count), isFull: state.left > 0)
            }
        }
    }

    /// Returns a WebSocket server stage that skips the handshake.
    private func server(_ codec: (any WebSocketCodec)? = nil) -> WebSocketStage {
        var configuration = WebSocketMachine.Configuration()
        configuration.skipsHandshake = true
        var machine = WebSocketMachine(.server, configuration: configuration, random: SplitMix64(seed: 1))
        if let codec { machine.compress(with: codec) }
        var stage = WebSocketStage(machine)
        stage.start(at: .zero)
        _ = stage.nextEvent()
        return stage
    }

    /// Returns a client's frame. Its mask is zero, so the payload stays unchanged.
    private func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let count = payload.count
        let length = count < 126 ? [UInt8(0x80 | count)] : [0xFE, UInt8(count >> 8), UInt8(count & 0xFF)]
        return [first] + length + [0, 0, 0, 0] + payload
    }

    private func ping(_ token: UInt64, on stage: inout WebSocketStage) {
        stage.send(
            MessageChunk([1], metadata: [WebSocketMetadata(opcode: .ping, pingToken: token)]), at: .zero)
    }

    /// Takes all events. Returns the tokens of the answered and of the lost pings.
    private func pings(_ stage: inout WebSocketStage) -> (answered: [UInt64], lost: [UInt64]) {
        var (answered, lost): ([UInt64], [UInt64]) = ([], [])
        while let event = stage.nextEvent() {
            switch event as? WebSocketStageEvent {
            case .pingAnswered(let token)?: answered.append(token)
            case .pingLost(let token)?: lost.append(token)
            case .requested?, .opened?, .failed?, nil: break
            }
        }
        return (answered, lost)
    }

    @Test("A ping that cannot be sent is reported as lost before the program reads the content that has arrived")
    func lostBeforeContent() {
        var stage = server()
        stage.receive(MessageChunk(frame(0x82, [5]), endsMessage: false), at: .zero)
        stage.send(MessageChunk(metadata: [WebSocketMetadata(opcode: .close)]), at: .zero)
        ping(7, on: &stage)
        let lost = pings(&stage).lost
        let content = stage.nextInbound(atMost: .max)
        #expect(lost == [7] && content?.bytes.bytes == [5])
    }

    @Test("After a hang-up, unanswered pings are lost at once if all that arrived fits into the buffer")
    func lostAtHangUp() {
        var stage = server()
        ping(1, on: &stage)
        ping(2, on: &stage)
        let arrived = frame(0x82, [5]) + frame(0x8A, [1])
        stage.receive(MessageChunk(arrived, endsMessage: false), at: .zero)
        stage.abort(.endedEarly)
        let (answered, lost) = pings(&stage)
        #expect(answered == [1] && lost == [2])
        let content = stage.nextInbound(atMost: .max)
        #expect(content?.bytes.bytes == [5])
    }

    @Test("After a hang-up, all messages can be read, and a pong behind them answers its ping; the rest is lost then")
    func hangUp() {
        var stage = server()
        ping(1, on: &stage)
        ping(2, on: &stage)
        let messages = (0..<3_000).map { frame(0x82, [UInt8($0 & 0xFF)]) }
        let arrived = Array(messages.joined()) + frame(0x8A, [1])
        stage.receive(MessageChunk(arrived, endsMessage: false), at: .zero)
        stage.abort(.endedEarly)
        let early = pings(&stage)
        let output = stage.nextOutbound(atMost: 9)
        #expect(early.answered.isEmpty && early.lost.isEmpty)
        #expect(output == nil && !stage.takesContent && stage.status == .failed(.endedEarly))
        var received: [UInt8] = []
        var hasEnd = false
        while let chunk = stage.nextInbound(atMost: .max) {
            received += chunk.bytes.bytes
            hasEnd = chunk.isFinal
        }
        #expect(received == (0..<3_000).map { UInt8($0 & 0xFF) } && hasEnd)
        #expect(stage.status == .failed(.endedEarly))
        let late = pings(&stage)
        #expect(late.answered == [1] && late.lost == [2])
    }

    @Test("After a hang-up, compressed content is decompressed as the program reads, not at once")
    func hangUpDuringCompression() {
        let codec = ThousandfoldCodec()
        var stage = server(codec)
        // The payload has 1,004 compressed bytes: 1,000 bytes of data, and the end mark of a DEFLATE flush.
        stage.receive(MessageChunk(frame(0xC2, [UInt8](repeating: 0, count: 1_000)), endsMessage: false), at: .zero)
        stage.abort(.endedEarly)
        #expect(codec.decompressedCount <= 256 << 10)
        var count = 0
        var hasEnd = false
        while let chunk = stage.nextInbound(atMost: .max) {
            count += chunk.bytes.count
            hasEnd = chunk.isFinal
        }
        #expect(count == 1_004_000 && codec.decompressedCount == count && hasEnd)
    }
}
