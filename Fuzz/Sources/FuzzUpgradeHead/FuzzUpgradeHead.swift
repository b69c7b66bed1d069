import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses bytes as an HTTP head. Checks that a program's values cannot add a field to a head, and that nothing crashes.
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
