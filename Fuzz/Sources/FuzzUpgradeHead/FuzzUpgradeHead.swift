import CFuzzerMain
import CausewayTestKit
import Foundation

/// Any octets are a head or are not, and what a program gives adds nothing to a head. Nothing traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let octets = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.upgradeHead(octets)
    return 0
}

@main
enum FuzzUpgradeHead {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
