import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses bytes as heads of HTTP and as field values. The split of the input does not change the result. Nothing traps.
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
