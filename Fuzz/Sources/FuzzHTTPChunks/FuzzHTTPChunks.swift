import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses bytes as a chunked body. The result must not depend on how the input is split. No input may trap.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.httpChunks(bytes)
    return 0
}

@main
enum FuzzHTTPChunks {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
