import CausewayExercises
import CausewayTestKit
import CausewayWire
import Testing

/// Runs the fuzzer's HTTP/2 checks on mutated frames. A violated invariant stops the process.
@Suite("HTTP/2: exercises")
struct HTTP2ExerciseTests {
    /// The bytes from all error test cases.
    private static let scripts: [[UInt8]] = {
        let frames = HTTP2FrameErrorTests.content + HTTP2FrameErrorTests.control + HTTP2FrameErrorTests.windows
        let streams = HTTP2StreamErrorTests.states + HTTP2StreamErrorTests.requestFraming
        return (frames + streams + HTTP2StreamErrorTests.responses).map { row in
            var wire = HTTP2Wire()
            row.script(&wire)
            return wire.bytes
        }
    }()

    @Test("Connections with several scripts after each other, some mutated", arguments: 0..<40)
    func connections(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var (eventCount, frameCount) = (0, 0)
        for _ in 0..<40 {
            var bytes = random.bytes(2)
            for _ in 0..<random.integer(in: 1...3) {
                bytes += Self.scripts[random.integer(in: 0...(Self.scripts.count - 1))]
            }
            if random.chance(oneIn: 2) { bytes[random.integer(in: 0...(bytes.count - 1))] ^= 1 << UInt8(seed & 7) }
            eventCount += Exercise.http2Connection(bytes)
            frameCount += Exercise.http2Frames(Array(bytes.dropFirst()))
        }
        // Each connection reports at least one event, because it reports its end.
        #expect(eventCount >= 40 && frameCount > 0)
    }

    @Test("Field blocks, mutated", arguments: 0..<40)
    func blocks(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var fieldCount = 0
        for _ in 0..<50 {
            var encoder = HPACKEncoder()
            var bytes: [UInt8] = [128]
            for _ in 0..<3 {
                var block: [UInt8] = []
                for (name, value) in HTTP2Wire.get + [("x-\(random.integer(in: 0...3))", "value"), ("cookie", "a=b")] {
                    encoder.append(name, value, to: &block)
                }
                bytes += [UInt8(block.count)] + block
            }
            if random.chance(oneIn: 2) { bytes[random.integer(in: 0...(bytes.count - 1))] ^= 1 << UInt8(seed & 7) }
            fieldCount += Exercise.hpack(bytes)
        }
        #expect(fieldCount > 0)
    }
}
