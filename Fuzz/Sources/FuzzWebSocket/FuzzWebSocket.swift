import CFuzzerMain
import CausewayExercises
import Foundation

/// Runs a WebSocket machine in both roles, its parsers and its compression, with arbitrary bytes. Nothing traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.webSocketMachine(bytes)
    Exercise.webSocketFrames(bytes)
    Exercise.webSocketDeflate(bytes)
    return 0
}

@main
enum FuzzWebSocket {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
