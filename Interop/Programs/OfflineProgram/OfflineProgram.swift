import CausewayClient
import CausewayOffline
import CausewayURLLoading
import Foundation

/// Queues operations and sends them, until it is killed or all have ended: OfflineProgram DIRECTORY URL LANES COUNT POLICY.
///
/// Prints a line for each operation that is stored (`queued KEY-OF-CONTENT`), for each report (`report …`), and at the end (`idle`). The content of an operation is
/// its lane and its number. The program continues where the last run ended: it numbers the operations of a lane without gaps.
@main
enum OfflineProgram {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 6, let url = URL(string: words[2]), let lanes = Int(words[3]), let count = Int(words[4])
        else {
            print("usage: OfflineProgram DIRECTORY URL LANES COUNT replay|report")
            exit(64)
        }
        let session = URLSessionConfiguration.ephemeral
        session.connectionProxyDictionary = [:]
        let client = try HTTPClient(baseURL: url, configuration: HTTPClient.Configuration(session: session))
        var configuration = OfflineEngine.Configuration()
        configuration.policy.serverHonorsKeys = words[5] == "replay"
        configuration.policy.backoff = .init(base: .milliseconds(2), maximum: .milliseconds(20))
        configuration.policy.expiry.maximumAttempts = 1_000
        configuration.journalSlack = 4 << 10
        let engine = try await OfflineEngine.open(
            directory: URL(filePath: words[1]), client: client, configuration: configuration)
        say("open \(engine.recovery.operationCount) \(engine.recovery.damagedByteCount)")
        let running = Task { try await engine.run() }
        for index in 0..<(lanes * count) {
            try await queue(engine, lane: index % lanes, number: Int.random(in: 0..<1_000_000_000))
        }
        while !engine.operations.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        try await printReports(engine)
        running.cancel()
        try await running.value
        say("idle")
    }

    /// Prints a line immediately, because the test may kill the program afterwards.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Queues an operation. Prints its content before and after. If the process is killed between the two lines, the
    /// operation may or may not be stored.
    private static func queue(_ engine: OfflineEngine, lane: Int, number: Int) async throws {
        // Wait while many operations are queued, so that the queue does not become full if the server is slow.
        while engine.operations.count > 50 { try await Task.sleep(for: .milliseconds(1)) }
        let content = "\(lane) \(number)"
        say("queueing \(content)")
        var request = ClientRequest("POST", "operations/\(lane)/\(number)")
        // Every eighth operation has long content, which is stored in a separate file.
        request.body = .text(number % 8 == 0 ? content + String(repeating: " ", count: 20_000) : content)
        try await engine.enqueue(request, options: OfflineOptions(lane: "\(lane)"))
        say("queued \(content)")
        try await printReports(engine)
    }

    /// Prints the reports. If the program was killed before it acknowledged a report, this report is printed a second
    /// time. Both lines have the same key.
    private static func printReports(_ engine: OfflineEngine) async throws {
        for report in engine.reports {
            say("report \(report.key) \(report.target) \(report.outcome)")
            try await engine.acknowledge(report.id)
        }
    }
}
