import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses bytes as a cache file or as an exchange. A parsed value can be written again, and its resource use is
/// bounded. No input traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    switch bytes.first {
    case 0: Exercise.cacheFile(Array(bytes.dropFirst()))
    default: Exercise.cacheExchange(Array(bytes.dropFirst()))
    }
    return 0
}

@main
enum FuzzCache {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
