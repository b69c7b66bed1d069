import CFuzzerMain
import CausewayExercises
import Foundation

/// Tests a TLS or DTLS client with a server. The fuzzer changes the data between them, and makes calls in any order.
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
