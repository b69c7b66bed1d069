import CFuzzerMain
import CausewayTestKit
import Foundation

/// A framer, its peer and its program do anything in any order. Nothing traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.framer(bytes)
    return 0
}

@main
enum FuzzFramer {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
