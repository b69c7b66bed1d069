import CFuzzerMain
import CausewayExercises
import Foundation

/// Runs an HTTP/2 connection in both roles, the reader of frames and HPACK with arbitrary bytes. Nothing traps.
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
