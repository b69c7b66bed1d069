import CFuzzerMain
import CausewayExercises
import Foundation

/// Runs an HTTP/2 connection with fuzzer input. The input chooses what the peer and the program do. Nothing traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.http2Calls(bytes)
    return 0
}

@main
enum FuzzHTTP2Calls {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
