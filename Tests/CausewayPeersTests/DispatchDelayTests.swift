import CausewayPeers
import Dispatch
import Testing

@Suite("Delays of timers")
struct DispatchDelayTests {
    private static let longest = Duration.seconds(Int64.max) * 18

    @Test(
        "Every duration is a delay, cut to what Dispatch can represent",
        arguments: [
            (.zero, 0), (.nanoseconds(7), 7), (.seconds(-9), 0), (.milliseconds(1_500), 1_500_000_000),
            (.nanoseconds(Int64.max), Int.max), (.nanoseconds(Int64.max - 1), Int.max - 1),
            // Whole seconds fit into 64 bits of nanoseconds, and the fraction does not.
            (.milliseconds(9_223_372_036_900), Int.max),
            (.seconds(Int64.max), Int.max), (longest, Int.max), (Duration.zero - longest, 0),
        ] as [(Duration, Int)])
    func bounded(_ time: Duration, nanoseconds: Int) {
        #expect(DispatchTimeInterval(time) == .nanoseconds(nanoseconds))
    }
}
