import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses the input as replies from the image decoder, as image cache files and as JPEG files. Also processes bitmaps.
/// Checks that nothing traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Exercise.image(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

@main
enum FuzzImages {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
