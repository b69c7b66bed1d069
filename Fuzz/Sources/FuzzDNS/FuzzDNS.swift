import CFuzzerMain
import CausewayExercises
import Foundation

/// Parses and encodes DNS messages, and passes them to a multicast DNS link, a bridge between links, and a sleep proxy client. Nothing
/// traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    Exercise.dnsMessage(bytes)
    Exercise.multicastLink(bytes)
    Exercise.linkBridge(bytes)
    Exercise.sleepProxyClient(bytes)
    return 0
}

@main
enum FuzzDNS {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
