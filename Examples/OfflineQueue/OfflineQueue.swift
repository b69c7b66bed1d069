// Shows notes that are kept without a network and sent later: swift run OfflineQueue http://127.0.0.1:8080/v1 FOLDER "a note"
import CausewayClient
import CausewayOffline
import Foundation

@main
enum OfflineQueue {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count >= 3, let url = URL(string: words[1]), url.host != nil else {
            print("usage: OfflineQueue URL FOLDER [NOTE]...")
            exit(64)
        }
        let engine = try await makeEngine(url, URL(filePath: words[2]))
        for operation in engine.operations { print("waiting since", operation.created, operation.target) }
        var options = OfflineOptions(lane: "notes")
        options.reportsSuccess = true
        for note in words.dropFirst(3) {
            var request = ClientRequest("POST", "notes")
            request.body = .json(["text": note])
            // The note is on the disk when this returns: the program may end now.
            try await engine.enqueue(request, options: options)
        }
        let log = Task { for await event in engine.events { print("  ", event) } }
        let running = Task { try await engine.run() }
        for await operations in engine.operationUpdates where operations.isEmpty { break }
        running.cancel()
        log.cancel()
        for report in engine.reports {
            print(report.target, report.outcome)
            try await engine.acknowledge(report.id)
        }
    }

    static func makeEngine(_ url: URL, _ folder: URL) async throws -> OfflineEngine {
        var configuration = OfflineEngine.Configuration()
        configuration.policy.serverHonorsKeys = true
        configuration.policy.conflict = .ask
        // A note that the server has changed in the meantime is stored under another name.
        configuration.resolver = { conflict in
            var copy = ClientRequest("POST", "notes/conflicts")
            copy.body = .data(conflict.content, contentType: "application/json")
            return .rewrite(copy)
        }
        return try await OfflineEngine.open(
            directory: folder, client: HTTPClient(baseURL: url), configuration: configuration)
    }
}
