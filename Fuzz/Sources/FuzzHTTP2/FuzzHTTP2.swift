import CFuzzerMain
import CausewayExercises
import Foundation

/// Passes arbitrary bytes to an HTTP/2 connection in both roles, to the frame reader and to the HPACK decoder. None of
/// them may trap.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.http2Connection(bytes)
    Exercise.http2Frames(bytes)
    Exercise.hpack(bytes)
    return 0
}

@main
enum FuzzHTTP2 {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
