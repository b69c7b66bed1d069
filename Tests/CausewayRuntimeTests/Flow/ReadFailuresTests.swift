import Testing

@testable import CausewayRuntime

extension Runtime {
    @Suite("Errors of a datagram socket that is read")
    struct ReadFailuresTests {
        @Test("Single errors are read over at once; an error that stays pauses reading until a read succeeds")
        func pauses() {
            var failures = ReadFailures()
            for _ in 0..<3 {
                for _ in 1..<ReadFailures.limit { #expect(failures.readFailed() == nil) }
                for _ in 0..<100 { #expect(failures.readFailed() == ReadFailures.pause) }
                failures.readSucceeded()
            }
        }
    }
}
