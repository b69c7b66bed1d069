import CFuzzerMain
import CausewayPackets
import Foundation

/// Compiles text as a packet filter, and runs the filter on arbitrary packets. If the text is not a filter, checks that
/// the error's position lies within the text.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let text = String(decoding: bytes, as: UTF8.self)
    for type in [LinkType.ethernet, .raw, .linuxCooked2] {
        do throws(FilterError) {
            let filter = try PacketFilter(text, linkType: type)
            _ = filter.matches(ByteView(bytes.span))
            _ = filter.kernelProgram
            _ = filter.explanation
        } catch {
            precondition(error.position >= 0 && error.position <= text.count)
        }
    }
    return 0
}

@main
enum FuzzPacketFilter {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
