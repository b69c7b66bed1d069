// Shows a deadline for one operation with a task group: swift run Deadline 192.0.2.1 7000
import Causeway
import Foundation

struct TookTooLong: Error {}

/// Runs `body`, and cancels it after the limit. The connection stays usable.
func within<Result: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw TookTooLong()
        }
        defer { group.cancelAll() }
        guard let result = try await group.next() else { throw TookTooLong() }
        return result
    }
}

@main
enum Deadline {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let port = NWEndpoint.Port(arguments[2]) else {
            print("usage: Deadline HOST PORT")
            exit(64)
        }
        let endpoint = NWEndpoint.hostPort(host: NWEndpoint.Host(arguments[1]), port: port)
        let connection = NetworkConnection(to: endpoint) { TCP() }
        do {
            try await within(.seconds(3)) { try await connection.send(Array("hello\n".utf8)) }
            let answer = try await within(.seconds(3)) { try await connection.receive(atMost: 1_024) }
            print(String(decoding: answer.content, as: UTF8.self))
        } catch is TookTooLong {
            print("no answer within three seconds; the connection is \(connection.state)")
        }
    }
}
