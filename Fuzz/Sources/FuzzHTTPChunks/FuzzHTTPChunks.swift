import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses bytes as a chunked body. The split of the input does not change the result. Nothing traps.
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
