import CausewayExercises
import CausewayTestKit
import Testing

@Suite("Arbitrary bytes for peers")
struct PeerExerciseTests {
    @Test("Frames, records and whole meshes accept arbitrary bytes", arguments: 0..<4)
    func arbitraryBytes(part: Int) {
        for seed in 0..<40 {
            let number = seed * 4 + part
            var random = SplitMix64(seed: UInt64(number))
            let bytes = random.bytes(random.integer(in: 0...400))
            Exercise.$violated.withValue({ Issue.record("seed \(number): \($0)") }) {
                Exercise.peerFrames(bytes)
                Exercise.peerRecord(bytes)
                Exercise.peerTexts(bytes)
                Exercise.peerMesh(bytes)
            }
        }
    }

    @Test("Invitations that fail at once do not pile up links")
    func failingInvitations() {
        // These bytes make the exercise expect a pairing with the first peer, which proves no secret. They then invite
        // that peer 400 times at once.
        let bytes: [UInt8] = [0, 12] + [UInt8](repeating: 0, count: 16) + (0..<400).flatMap { _ in [0, 1] as [UInt8] }
        Exercise.$violated.withValue({ Issue.record("\($0)") }) { _ = Exercise.peerMesh(bytes) }
    }
}
