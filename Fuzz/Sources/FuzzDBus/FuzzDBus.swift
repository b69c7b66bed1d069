import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses and encodes D-Bus messages. Passes them to the clients for network managers and for the Secret Service.
/// Checks that nothing crashes.
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
