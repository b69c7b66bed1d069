import Testing

@testable import CausewayTLS

@Suite("DTLS retransmission timeout")
struct RetransmissionTimeoutTests {
    private func timeout(after previous: UInt32, first: Duration) throws -> UInt32 {
        let context = try TLSContext(
            .client {
                $0.usesDatagrams = true
                $0.firstRetransmission = first
            })
        let engine = try OpenSSLEngine(context)
        return timerCallback(engine.ssl, previous)
    }

    @Test(
        "The timeout starts with the setting and doubles, up to a minute",
        arguments: [
            (.seconds(1), 0, 1_000_000), (.milliseconds(20), 0, 20_000), (.seconds(1), 1_000_000, 2_000_000),
            (.seconds(1), 40_000_000, 60_000_000), (.seconds(1), 60_000_000, 60_000_000), (.seconds(61), 0, 60_000_000),
            (.seconds(7_200), 0, 60_000_000), (.seconds(1), (1 << 31) + 1_000, 60_000_000),
            (.seconds(1), .max, 60_000_000),
        ] as [(Duration, UInt32, UInt32)])
    func doubling(_ first: Duration, _ previous: UInt32, _ next: UInt32) throws {
        #expect(try timeout(after: previous, first: first) == next)
    }

    @Test("A setting without meaning becomes the nearest timeout")
    func extremes() throws {
        #expect(try timeout(after: 0, first: .zero) == 1)
        #expect(try timeout(after: 0, first: .seconds(-5)) == 1)
        #expect(try timeout(after: 0, first: .nanoseconds(1)) == 1)
        #expect(try timeout(after: 0, first: .seconds(Int64.max)) == 60_000_000)
        #expect(try timeout(after: 0, first: .seconds(Int64.min)) == 1)
    }
}
