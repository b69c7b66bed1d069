import CFuzzerMain
import CausewayExercises
import Foundation

/// Runs both ends of TLS or DTLS with arbitrary changes to the transferred data, and calls in any order.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.tls(bytes)
    return 0
}

@main
enum FuzzTLS {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
