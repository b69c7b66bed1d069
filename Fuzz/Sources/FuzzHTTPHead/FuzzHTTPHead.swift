import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses bytes as HTTP heads and as field values. Checks that the result does not depend on how the input is split. No
/// input may trap.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.httpHead(bytes)
    return 0
}

@main
enum FuzzHTTPHead {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
