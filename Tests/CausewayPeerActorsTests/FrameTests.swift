import CausewayExercises
import CausewayPeerProtocols
import CausewayTestKit
import Testing

@Suite("Frames of distributed actors")
struct FrameTests {
    private static let listing = ActorListing(ActorListing.Name(key: "k", type: "A.B"), actor: 3)
    private static let frames: [ActorFrame] = [
        .hello(version: 1, wantsAnswer: true), .hello(version: 2, wantsAnswer: false),
        .call(
            ActorCall(id: 1, actor: .max, target: "$sé", arguments: [[], [1, 2], [UInt8](repeating: 9, count: 300)])),
        .reply(call: 4, .void), .reply(call: 4, .value([])), .reply(call: 4, .value([1, 2, 3])),
        .reply(call: 4, .thrown(ActorThrownError(type: "A.E", description: "e", payload: [5]))),
        .reply(call: 4, .described("text")), .reply(call: 5, .refused(.tooLarge, "x")), .cancel(call: 6),
        .publish(listing), .withdraw(listing), .skipped(0x80),
    ]

    @Test("An encoded frame is decoded to an equal one", arguments: frames)
    func roundTrip(_ frame: ActorFrame) throws {
        #expect(try ActorFrame(frame.bytes) == frame)
        #expect(ActorFrame.owns(frame.bytes))
    }

    @Test("A frame that is cut off, or has bytes after its end, is an error or another frame, and never traps")
    func truncated() {
        for frame in Self.frames {
            let bytes = frame.bytes
            for count in 0..<bytes.count { _ = try? ActorFrame(Array(bytes.prefix(count))) }
            for index in bytes.indices {
                var changed = bytes
                changed[index] ^= 0xFF
                _ = try? ActorFrame(changed)
            }
        }
        #expect(throws: ActorFrameError.self) { try ActorFrame(ActorFrame.cancel(call: 1).bytes + [0]) }
        #expect(throws: ActorFrameError.self) { try ActorFrame(ActorFrame.magic + [0x7F]) }
        #expect(throws: ActorFrameError.self) { try ActorFrame(Array("text".utf8)) }
    }

    @Test("A long text is cut at a Unicode scalar")
    func longText() throws {
        let text = String(repeating: "é", count: 2_000)
        let bytes = ActorFrame.reply(call: 1, .described("x" + text)).bytes
        guard case .reply(_, .described(let cut)) = try ActorFrame(bytes) else {
            Issue.record("another frame")
            return
        }
        #expect(cut == "x" + String(repeating: "é", count: 511))
    }

    @Test("Arbitrary bytes of peers: frames, and whole lives of an engine", arguments: 0..<4)
    func arbitraryBytes(part: Int) {
        for seed in 0..<60 {
            let number = seed * 4 + part
            var random = SplitMix64(seed: UInt64(number))
            let bytes = random.bytes(random.integer(in: 0...600))
            Exercise.$violated.withValue({ Issue.record("seed \(number): \($0)") }) {
                Exercise.actorFrame(bytes)
                Exercise.actorFrame(ActorFrame.magic + bytes)
                Exercise.actorEngine(bytes)
            }
        }
    }
}
