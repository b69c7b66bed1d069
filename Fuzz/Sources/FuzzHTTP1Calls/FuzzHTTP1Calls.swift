import CFuzzerMain
import CausewayExercises
import Foundation

/// Runs an HTTP/1 connection whose peer and program the input chooses. Nothing traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.http1Calls(bytes)
    return 0
}

@main
enum FuzzHTTP1Calls {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
