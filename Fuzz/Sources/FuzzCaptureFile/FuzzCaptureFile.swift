import CFuzzerMain
import CausewayPackets
import Foundation

/// Parses the bytes as a capture file up to the first error. Checks that parsing in one portion and in two portions
/// gives the same result. Also checks that encoding the parsed pcapng blocks reproduces them.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    precondition(packets(bytes, bytes.count) == packets(bytes, bytes.count / 2))
    var blocks: [PcapngBlock] = []
    do throws(CaptureFileError) { try PcapngBlock.readAll(bytes, into: &blocks) } catch { return 0 }
    var output: [UInt8] = []
    for block in blocks { PcapngWriter().append(block, to: &output) }
    return 0
}

/// Returns the packets in a capture file. The file is passed to the parser in two portions, divided at `split`.
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
