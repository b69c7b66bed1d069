import CFuzzerMain
import CausewayTestKit
import Foundation

/// Any bytes are a head or are not, and what a program gives adds nothing to a head. Nothing traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.upgradeHead(bytes)
    return 0
}

@main
enum FuzzUpgradeHead {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
