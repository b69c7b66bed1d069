import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses, prints and evaluates certificates and keys of all formats, and signs with the keys. Nothing traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.certificates(bytes)
    Exercise.keys(bytes)
    return 0
}

@main
enum FuzzCertificates {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
