import CFuzzerMain
import CausewayExercises
import Foundation

/// Decodes bytes with content codings. Checks that splitting the input does not change the content, and that nothing
/// crashes.
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
