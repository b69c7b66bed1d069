import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses and encodes D-Bus messages, and passes them to the clients of network managers and of the Secret Service. Nothing traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.busMessage(bytes)
    Exercise.interfaceManagers(bytes)
    Exercise.secretService(bytes)
    return 0
}

@main
enum FuzzDBus {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
