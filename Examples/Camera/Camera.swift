// Shows the camera demo of Apple's 2018 presentation over UDP: swift run Camera view NAME, and on another host swift run Camera send NAME
// [FRAMES-PER-SECOND]
import Causeway
import Foundation

/// A frame is a batch of datagrams of 1,200 bytes. Each datagram begins with its number.
enum Frame {
    static let datagramCount = 20
    static let byteCount = 1_200
    static let serviceType = "_camera._udp"

    static func datagram(_ number: UInt64) -> Data {
        withUnsafeBytes(of: number.bigEndian) { Data($0) } + Data(count: byteCount - 8)
    }

    static func number(of datagram: Data) -> UInt64? {
        datagram.count == byteCount ? datagram.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } : nil
    }
}

@main
enum Camera {
    static func main() throws {
        let words = CommandLine.arguments.dropFirst()
        switch (words.first, words.count) {
        case ("view", 2): try Viewer(name: words[2]).start()
        case ("send", 2): Sender(to: words[2], framesPerSecond: 50).start()
        case ("send", 3):
            guard let rate = Int(words[3]), rate > 0 else { usage() }
            Sender(to: words[2], framesPerSecond: rate).start()
        default: usage()
        }
        dispatchMain()
    }

    static func usage() -> Never {
        print("usage: Camera view NAME | Camera send NAME [FRAMES-PER-SECOND]")
        exit(64)
    }
}
