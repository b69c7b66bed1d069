import CFuzzerMain
import CausewayPackets
import Foundation

/// A cipher for the fuzzer. It accepts every packet and passes the bytes on unchanged, so that the fuzzer can reach the
/// frames in the packet.
private let cipher = QUICInitialCipher(
    authenticate: { _, _ in [UInt8](repeating: 0, count: 32) },
    encryptBlock: { _, block in [UInt8](repeating: 0, count: block.count) },
    open: { _, _, _, sealed in Array(sealed.dropLast(16)) })

/// Decodes bytes as a packet with any link type. Verifies the packet, and prints it at every verbosity. No input may
/// trap.
private func tryOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard count > 1, let start else { return 0 }
    let types: [LinkType] = [.ethernet, .raw, .ipv4, .ipv6, .null, .loop, .linuxCooked, .linuxCooked2, .ppp]
    let bytes = Array(UnsafeBufferPointer(start: start + 1, count: count - 1))
    let packet = CapturedPacket(
        time: CaptureTime(seconds: 0, microseconds: 0), originalCount: bytes.count + Int(start.pointee >> 4),
        capturedCount: bytes.count, linkType: types[Int(start.pointee & 15) % types.count])
    let view = Packet(ByteView(bytes.span), linkType: packet.linkType, originalCount: packet.originalCount)
    precondition(view.layers.payload.upperBound <= bytes.count)
    _ = view.checksums()
    for verbosity in 0...3 {
        var options = PacketPrinter.Options()
        options.verbosity = verbosity
        options.showsLink = verbosity.isMultiple(of: 2)
        var printer = PacketPrinter(options, initialCipher: cipher)
        _ = printer.line(packet, ByteView(bytes.span))
    }
    var json = PacketJSON(initialCipher: cipher)
    _ = json.line(packet, ByteView(bytes.span))
    var defragmenter = Defragmenter()
    _ = defragmenter.add(ByteView(bytes.span), at: 0)
    return 0
}

@main
enum FuzzPackets {
    static func main() {
        exit(fuzzer_main(CommandLine.argc, CommandLine.unsafeArgv, tryOneInput))
    }
}
