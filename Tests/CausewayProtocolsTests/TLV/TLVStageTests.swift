import CausewayProtocols
import CausewayTestKit
import CausewayTypes
import Testing

@Suite("Type, length and value")
struct TLVStageTests {
    private static func ready(
        _ header: TLVHeader = TLVHeader(), over carrier: TLVStage.Carrier = .stream,
        limit: Int = .max
    ) -> TLVStage {
        var stage = TLVStage(header, over: carrier, limit: limit)
        stage.start(at: .zero)
        return stage
    }

    private static func take(_ stage: inout TLVStage) -> [String] {
        var lines: [String] = []
        while let chunk = stage.nextInbound(atMost: .max) {
            let type = chunk.metadata(of: TLVMetadata.self).map { "\($0.type)/\($0.length)" } ?? "-"
            let text = String(decoding: chunk.bytes.bytes, as: UTF8.self)
            lines.append("\(type) '\(text)'\(chunk.endsMessage ? "" : " …")\(chunk.isFinal ? " final" : "")")
        }
        return lines
    }

    private static func written(_ stage: inout TLVStage) -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = stage.nextOutbound(atMost: 5) { bytes += chunk.bytes.bytes }
        return bytes
    }

    static let layouts: [(TLVHeader, UInt64, [UInt8])] = [
        (TLVHeader(), 0x0102, [0, 0, 1, 2, 0, 0, 0, 2, 97, 98]),
        (TLVHeader(typeWidth: 1, lengthWidth: 2), 255, [255, 0, 2, 97, 98]),
        (TLVHeader(typeWidth: 0), 0, [0, 0, 0, 2, 97, 98]),
        (TLVHeader(typeWidth: 8, lengthWidth: 1), 1 << 40, [0, 0, 1, 0, 0, 0, 0, 0, 2, 97, 98]),
        (
            TLVHeader(typeWidth: 16, lengthWidth: 1), 3,
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 2, 97, 98]
        ),
    ]

    @Test("Both numbers are in network byte order, and the length excludes the header", arguments: layouts)
    func layout(header: TLVHeader, type: UInt64, bytes: [UInt8]) {
        var stage = Self.ready(header)
        let isTaken = stage.send(MessageChunk([97, 98], metadata: [TLVMetadata(type: type)]), at: .zero)
        #expect(isTaken)
        #expect(Self.written(&stage) == bytes)
        for byte in bytes { stage.receive(MessageChunk([byte], endsMessage: false), at: .zero) }
        #expect(Self.take(&stage) == ["\(type)/2 'ab'"])
    }

    @Test("A message that arrives byte by byte is delivered as it arrives, and ends once")
    func drip() {
        var stage = Self.ready(TLVHeader(typeWidth: 1, lengthWidth: 1))
        var lines: [String] = []
        for byte: UInt8 in [7, 2, 97, 98, 8, 0, 9, 1, 99] {
            stage.receive(MessageChunk([byte], endsMessage: false), at: .zero)
            lines += Self.take(&stage)
        }
        stage.receive(.end, at: .zero)
        lines += Self.take(&stage)
        #expect(lines == ["7/2 'a' …", "7/2 'b'", "8/0 ''", "9/1 'c'", "- '' final"])
        #expect(stage.status == .ready)
    }

    @Test("The last message is marked if the end has arrived with it")
    func lastMessage() {
        var stage = Self.ready(TLVHeader(typeWidth: 1, lengthWidth: 1))
        stage.receive(MessageChunk([7, 1, 97], isFinal: true), at: .zero)
        #expect(Self.take(&stage) == ["7/1 'a' final"])
    }

    static let failing: [(name: String, bytes: [UInt8], isFinal: Bool, failure: Failure)] = [
        ("truncated header", [0, 0], true, .endedEarly),
        ("truncated value", [0, 0, 0, 2, 97], true, .endedEarly),
        ("longer than the limit", [0, 0, 0, 101], false, .tooLong),
        ("as long as allowed", [255, 255, 255, 255], false, .tooLong),
    ]

    @Test("Invalid input from a peer fails the stage", arguments: failing)
    func fails(name: String, bytes: [UInt8], isFinal: Bool, failure: Failure) {
        var stage = Self.ready(TLVHeader(typeWidth: 0), limit: 100)
        stage.receive(MessageChunk(bytes, isFinal: isFinal), at: .zero)
        while stage.nextInbound(atMost: .max) != nil {}
        #expect(stage.status == .failed(failure))
    }

    @Test("Lengths that exceed the integer type are refused")
    func hugeNumbers() {
        for header in [TLVHeader(typeWidth: 8), TLVHeader(typeWidth: 0, lengthWidth: 16)] {
            var stage = Self.ready(header)
            stage.receive(MessageChunk([UInt8](repeating: 128, count: header.byteCount), endsMessage: false), at: .zero)
            let chunk = stage.nextInbound(atMost: .max)
            #expect(chunk == nil && stage.status == .failed(.protocolViolation))
        }
    }

    @Test("Room shrinks with content that is not taken")
    func room() {
        var stage = Self.ready(TLVHeader(typeWidth: 0))
        let before = stage.inboundRoom
        stage.receive(
            MessageChunk([0, 0, 255, 255] + [UInt8](repeating: 1, count: 1_000), endsMessage: false), at: .zero)
        #expect(stage.inboundRoom == before - 1_000)
        stage.send(MessageChunk([UInt8](repeating: 1, count: 100_000)), at: .zero)
        #expect(stage.outboundRoom == 0)
    }

    @Test("Empty values that are not taken use up the room", arguments: [TLVStage.Carrier.messages, .datagrams])
    func roomForEmptyValues(carrier: TLVStage.Carrier) {
        var stage = Self.ready(TLVHeader(typeWidth: 1, lengthWidth: 1), over: carrier)
        var count = 0
        while stage.inboundRoom > 0, count < 10_000 {
            stage.receive(MessageChunk([5, 0]), at: .zero)
            count += 1
        }
        #expect(count == 1024)
        #expect(Self.take(&stage).count == count)
        #expect(stage.inboundRoom > 0)
    }

    @Test("An invalid datagram is dropped, an invalid message fails the stage")
    func messages() {
        let good: [UInt8] = [5, 1, 97]
        for (carrier, status): (TLVStage.Carrier, StageStatus) in [
            (.datagrams, .ready), (.messages, .failed(.protocolViolation)),
        ] {
            for bad: [UInt8] in [[], [5], [5, 2, 97], [5, 1, 97, 98]] {
                var stage = Self.ready(TLVHeader(typeWidth: 1, lengthWidth: 1), over: carrier)
                stage.receive(MessageChunk(good), at: .zero)
                #expect(Self.take(&stage) == ["5/1 'a'"])
                stage.receive(MessageChunk(bad), at: .zero)
                #expect(stage.status == status)
                stage.receive(MessageChunk(good), at: .zero)
                #expect(Self.take(&stage) == (status == .ready ? ["5/1 'a'"] : []))
            }
        }
    }

    @Test("Over datagrams each message is one datagram, and there is no end to send")
    func outboundDatagrams() {
        var stage = Self.ready(TLVHeader(typeWidth: 1, lengthWidth: 1), over: .datagrams)
        stage.send(MessageChunk([97], metadata: [TLVMetadata(type: 5)], isFinal: true), at: .zero)
        let chunk = stage.nextOutbound(atMost: .max)
        #expect(chunk?.bytes.bytes == [5, 1, 97] && chunk?.endsMessage == true && chunk?.isFinal == false)
        let isTaken = stage.send(MessageChunk([98]), at: .zero)
        let next = stage.nextOutbound(atMost: .max)
        #expect(!isTaken && next == nil)
    }

    @Test(
        "Any input in any fragmentation: no trap, one result, and no more held than allowed", arguments: 0..<200)
    func random(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let header = TLVHeader(
            typeWidth: .random(in: 0...3, using: &random), lengthWidth: .random(in: 1...2, using: &random))
        let carrier: TLVStage.Carrier =
            [.stream, .messages, .datagrams].randomElement(using: &random) ?? .stream
        var stage = Self.ready(header, over: carrier, limit: 300)
        for _ in 0..<100 {
            let bytes = (0..<Int.random(in: 0...20, using: &random)).map { _ in UInt8.random(in: 0...3, using: &random)
            }
            let isFinal = Int.random(in: 0..<60, using: &random) == 0
            stage.receive(MessageChunk(bytes, endsMessage: .random(using: &random), isFinal: isFinal), at: .zero)
            while let chunk = stage.nextInbound(atMost: .random(in: 1...9, using: &random)) {
                #expect(chunk.bytes.count <= 9)
            }
            if case .failed = stage.status { #expect(stage.inboundRoom == .max) }
        }
        stage.close(at: .zero)
        stage.abort(.aborted)
        let last = stage.nextInbound(atMost: 9)
        #expect(last == nil)
    }

    private struct Mark: StageMetadata {}

    @Test("Metadata of lower protocols for a message follow its own metadata")
    func lowerMetadata() {
        for carrier in [TLVStage.Carrier.messages, .datagrams] {
            var stage = Self.ready(TLVHeader(typeWidth: 1, lengthWidth: 1), over: carrier)
            stage.receive(MessageChunk([7, 1, 97], metadata: [Mark()]), at: .zero)
            let metadata = stage.nextInbound(atMost: .max)?.metadata ?? []
            #expect(metadata.count == 2 && metadata.first is TLVMetadata && metadata.last is Mark)
        }
    }
}
