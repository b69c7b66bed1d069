import CFuzzerMain
import CausewayExercises
import Foundation

/// Uses bytes in three ways: as `Set-Cookie` fields, as a cookie store's file, and as a list of public suffixes. Checks
/// that sent cookies equal the received ones, and that the store's size stays limited. No input may cause a trap.
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
