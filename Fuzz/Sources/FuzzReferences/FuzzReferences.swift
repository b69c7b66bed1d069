import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses bytes as a URI reference, a redirect and a data URL. Checks that redirects never leave TLS and never carry a
/// credential. Also checks that nothing crashes.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.references(bytes)
    return 0
}

@main
enum FuzzReferences {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
