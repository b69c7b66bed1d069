import CausewayExercises
import CausewayTestKit
import Foundation
import Testing

@Suite("Random input for images")
struct ExerciseTests {
    /// `CAUSEWAY_EXERCISE_SECONDS` makes the run longer.
    @Test("Random replies, cache files, JPEG files, bitmaps and orders of requests trap nothing")
    func random() {
        let seconds = ProcessInfo.processInfo.environment["CAUSEWAY_EXERCISE_SECONDS"].flatMap(Double.init) ?? 0
        let end = Date() + seconds
        var seed: UInt64 = 0
        repeat {
            for _ in 0..<300 {
                var random = SplitMix64(seed: seed)
                Exercise.image(random.bytes(random.integer(in: 0...600)))
                seed += 1
            }
        } while Date() < end
    }
}
