import CFuzzerMain
import CausewayPackets
import Foundation

/// Parses bytes as a capture file up to the first error, in one portion and in two with the same result. pcapng is encoded as it was
/// parsed.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    precondition(packets(bytes, bytes.count) == packets(bytes, bytes.count / 2))
    var blocks: [PcapngBlock] = []
    do throws(CaptureFileError) { try PcapngBlock.readAll(bytes, into: &blocks) } catch { return 0 }
    var output: [UInt8] = []
    for block in blocks { PcapngWriter().append(block, to: &output) }
    return 0
}

/// Returns the packets of a file that is parsed in two portions.
private func packets(_ file: [UInt8], _ split: Int) -> [[UInt8]] {
    var reader = CaptureFileReader()
    var found: [[UInt8]] = []
    for portion in [Array(file[..<split]), Array(file[split...])] {
        reader.feed(portion)
        while (try? reader.next()) != nil, found.count < 10_000 { found.append(reader.bytes.array) }
    }
    reader.finish()
    _ = try? reader.next()
    return found
}

@main
enum FuzzCaptureFile {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
