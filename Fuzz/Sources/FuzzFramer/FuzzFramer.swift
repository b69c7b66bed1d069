import CFuzzerMain
import CausewayExercises
import Foundation

/// Runs arbitrary actions of a framer, its peer and its program in any order. No input may cause a trap.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.framer(bytes)
    return 0
}

@main
enum FuzzFramer {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
