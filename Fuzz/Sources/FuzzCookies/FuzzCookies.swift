import CFuzzerMain
import CausewayExercises
import Foundation

/// Stores bytes as cookies, and reads them as the file of a store and as a list of public suffixes. Sent cookies equal received ones, and the store is bounded. Nothing traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.setCookies(bytes)
    Exercise.cookieFile(bytes)
    Exercise.publicSuffixes(bytes)
    return 0
}

@main
enum FuzzCookies {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
