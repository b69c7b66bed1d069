import CFuzzerMain
import CausewayTestKit
import Foundation

/// A machine meets any octets as an end of either role, and its parsers meet them as they are. Nothing traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let octets = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.webSocketMachine(octets)
    Exercise.webSocketFrames(octets)
    return 0
}

@main
enum FuzzWebSocket {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
