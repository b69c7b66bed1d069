import CFuzzerMain
import CausewayPackets
import Foundation

/// Any octets are a packet, whatever the link type: it is decoded, verified and printed at every verbosity. Nothing traps.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard count > 1, let start else { return 0 }
    let types: [LinkType] = [.ethernet, .raw, .ipv4, .ipv6, .null, .loop, .linuxCooked, .linuxCooked2, .ppp]
    let octets = Array(UnsafeBufferPointer(start: start + 1, count: count - 1))
    let packet = CapturedPacket(
        time: CaptureTime(seconds: 0, microseconds: 0), originalCount: octets.count + Int(start.pointee >> 4),
        capturedCount: octets.count, linkType: types[Int(start.pointee & 15) % types.count])
    let view = Packet(Octets(octets.span), linkType: packet.linkType, originalCount: packet.originalCount)
    precondition(view.layers.payload.upperBound <= octets.count)
    _ = view.checksums()
    for verbosity in 0...3 {
        var options = PacketPrinter.Options()
        options.verbosity = verbosity
        options.showsLink = verbosity.isMultiple(of: 2)
        var printer = PacketPrinter(options)
        _ = printer.line(packet, Octets(octets.span))
    }
    var json = PacketJSON()
    _ = json.line(packet, Octets(octets.span))
    var defragmenter = Defragmenter()
    _ = defragmenter.add(Octets(octets.span), at: 0)
    return 0
}

@main
enum FuzzPackets {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
