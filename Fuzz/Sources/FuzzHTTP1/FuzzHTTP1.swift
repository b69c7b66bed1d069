import CFuzzerMain
import CausewayExercises
import Foundation

/// Runs an HTTP/1 connection as client or server. Checks that the split of the input does not change the events. No
/// input may cause a trap.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.http1Connection(bytes)
    return 0
}

@main
enum FuzzHTTP1 {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
