import CFuzzerMain
import CausewayTestKit
import Foundation

/// Messages of the bus are read and written, and whoever follows the managers of networks hears them. Nothing traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.busMessage(bytes)
    Exercise.interfaceManagers(bytes)
    return 0
}

@main
enum FuzzDBus {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
