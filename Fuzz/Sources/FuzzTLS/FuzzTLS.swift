import CFuzzerMain
import CausewayTestKit
import Foundation

/// Two ends of TLS or DTLS meet any way between them and any order of calls.
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
