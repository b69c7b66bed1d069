import CausewayRuntime
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Equal behaviour of both engines")
    struct StressBackendTests {
        @Test("Every scripted scenario has equal transcripts on epoll and on DispatchSource")
        func sameTranscripts() async throws {
            let epoll = try #require(
                await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                    try await Scenario.printAll(on: .epoll)
                })
            let dispatch = try #require(
                await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                    try await Scenario.printAll(on: .dispatchSource)
                })
            let (one, other) = (Self.transcripts(epoll), Self.transcripts(dispatch))
            for scenario in Scenario.all {
                let transcript = one[scenario.name] ?? []
                #expect(!transcript.isEmpty, "\(scenario.name)")
                #expect(transcript == other[scenario.name], "\(scenario.name)")
                #expect(!transcript.contains { $0.hasPrefix("thrown") }, "\(scenario.name)")
            }
        }

        private static func transcripts(_ result: ExitTest.Result) -> [String: [String]] {
            var found: [String: [String]] = [:]
            for line in String(decoding: result.standardOutputContent, as: UTF8.self).split(separator: "\n") {
                guard line.hasPrefix("HISTORY "), let bar = line.firstIndex(of: "|") else { continue }
                let name = line.dropFirst(8)[..<line.index(before: bar)]
                found[String(name), default: []].append(String(line[line.index(bar, offsetBy: 2)...]))
            }
            return found
        }
    }
}
