import CFuzzerMain
import CausewayExercises
import Foundation

/// Decodes bytes with content codings. The split of the input does not change the content. Nothing traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.contentDecoding(bytes)
    return 0
}

@main
enum FuzzCodings {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
