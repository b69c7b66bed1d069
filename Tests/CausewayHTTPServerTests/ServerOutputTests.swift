import CausewayProtocols
import FoundationEssentials
import Testing

@testable import CausewayHTTPServer

@Suite("HTTP server: output")
struct ServerOutputTests {
    @Test(
        "The transport reports a long response in parts, so that a slow client does not look as if it took nothing",
        arguments: [
            [1_000_000], [200, 100_000], [100, 20_000, 20_000, 60_000], [600, 16_384, 600, 16_384, 600, 16_384], [1],
        ])
    func parts(_ counts: [Int]) {
        var bytes = ByteChain()
        for count in counts { bytes.append([UInt8](repeating: UInt8(count & 0xFF), count: count)) }
        let parts = ServerOutput.parts(of: bytes)
        #expect(Array(parts.map(\.content).joined()) == bytes.bytes)
        let reported = parts.compactMap(\.reportedCount)
        #expect(reported.reduce(0, +) == bytes.count)
        #expect(reported.allSatisfy { $0 <= 64 << 10 })
        #expect(parts.last?.reportedCount != nil)
    }

    @Test("No bytes have no parts")
    func empty() { #expect(ServerOutput.parts(of: ByteChain()).isEmpty) }
}
