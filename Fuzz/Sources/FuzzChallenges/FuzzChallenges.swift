import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses bytes as authentication challenges and answers them. Checks that no answer adds a header field. No input may
/// trap.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.challenges(bytes)
    return 0
}

@main
enum FuzzChallenges {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
