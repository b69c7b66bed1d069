import CFuzzerMain
import CausewayTestKit
import Foundation

/// Messages of the bus are read and written, and whoever follows the managers of networks hears them. Nothing traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let octets = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.busMessage(octets)
    Exercise.interfaceManagers(octets)
    return 0
}

@main
enum FuzzDBus {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
