import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses bytes as the journal of an offline queue. A parsed journal can be written again, and a queue accepts it. No
/// input may trap.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Exercise.journal(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

@main
enum FuzzJournal {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
