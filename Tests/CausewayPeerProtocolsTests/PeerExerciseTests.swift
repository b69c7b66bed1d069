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
}
