import CausewayURLLoading
import Foundation

/// Talks to an echo service through a stream task, and reports better routes. After a line of input, it uses the task
/// again.
final class Routes: NSObject, URLSessionStreamDelegate, Sendable {
    static func follow(_ host: String, _ port: Int) async throws {
        let session = URLSession(configuration: .ephemeral, delegate: Routes(), delegateQueue: nil)
        let task = session.streamTask(withHostName: host, port: port)
        task.resume()
        repeat {
            try await task.write(Data("hello".utf8), timeout: 20)
            let (data, _) = try await task.readData(ofMinLength: 5, maxLength: 64, timeout: 20)
            report("heard \(String(decoding: data ?? Data(), as: UTF8.self))")
        } while await nextLine() != nil
        session.invalidateAndCancel()
    }

    private static func nextLine() async -> String? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: readLine()) }
        }
    }

    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {
        report("better route for \(streamTask.taskIdentifier)")
    }
}
