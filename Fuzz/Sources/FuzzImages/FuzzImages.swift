import CFuzzerMain
import CausewayExercises
import Foundation

/// Reads bytes as replies of the image decoder, as files of the image cache and as JPEG files, and processes bitmaps. Nothing traps.
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
