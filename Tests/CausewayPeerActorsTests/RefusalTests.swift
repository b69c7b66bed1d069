import CausewayPeerActors
import CausewayPeerProtocols
import Testing

@Suite("Refusals of calls")
struct RefusalTests {
    private static let byteCount = call(0).count

    private static func call(_ number: UInt64) -> [UInt8] {
        ActorFrame.call(ActorCall(id: number, actor: 1, target: "t", arguments: [[UInt8](repeating: 1, count: 100)]))
            .bytes
    }

    /// Sends `count` calls from an engine's only member. Returns the refusals that the engine sends back.
    private func refusals(_ limits: ActorLimits, calls count: UInt64) -> [String] {
        var engine = ActorEngine<Int, Int>(limits)
        engine.joined(1)
        for number in 0..<count { engine.received(Self.call(number), from: 1) }
        return engine.takeActions().compactMap { action in
            guard case .send(.reply(_, .refused(let refusal, let text)), _) = action else { return nil }
            return "\(refusal): \(text)"
        }
    }

    @Test("A refusal names the limit that was reached: calls, their bytes, or the size of one")
    func texts() {
        let size = Self.byteCount
        var limits = ActorLimits()
        limits.callCount = 2
        #expect(
            refusals(limits, calls: 3) == [
                "tooManyCalls: 2 calls of this peer have no result yet, and more are not accepted: "
                    + "await a result before the next call"
            ])
        limits.callCount = 100
        limits.waitingByteCount = 3 * size - 1
        #expect(
            refusals(limits, calls: 3) == [
                "tooManyCalls: calls of \(2 * size) bytes from this peer have not begun, and with \(size) more bytes "
                    + "they exceed \(3 * size - 1): await a result before the next call"
            ])
        limits.frameByteCount = size - 1
        #expect(
            refusals(limits, calls: 1) == ["tooLarge: a call of \(size) bytes; at most \(size - 1) are accepted"])
    }

    @Test("A result that is too long names its size and the one that is sent")
    func results() async throws {
        let pair = try await Pair { $0.messageByteLimit = 2_048 }
        // In JSON, the text has two quotation marks. So its encoded form is two bytes longer.
        #expect(try await pair.remote.big(2_048 - 64 - 2).count == 2_048 - 64 - 2)
        let failure = await #expect(throws: PeerActorFailure.self) { try await pair.remote.big(2_048 - 64 - 1) }
        #expect(failure?.message.contains("the result has 1985 bytes; at most 1984 are sent") == true)
        pair.stop()
    }
}
