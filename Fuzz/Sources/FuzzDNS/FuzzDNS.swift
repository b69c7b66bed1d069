import CFuzzerMain
import CausewayTestKit
import Foundation

/// DNS messages are read and written, and a link of multicast DNS hears them; a bridge between links is told
/// anything, and so is a client of sleep proxies. Nothing traps.
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
