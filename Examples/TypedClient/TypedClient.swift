// Shows a typed client with a token, repetitions and events: swift run TypedClient http://127.0.0.1:8080/v1 Ann
import CausewayClient
import Foundation

struct User: Codable {
    var name: String
    var age: Int
}

@main
enum TypedClient {
    static func main() async throws {
        guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[1]) else {
            print("usage: TypedClient URL NAME")
            exit(64)
        }
        let client = try makeClient(url)
        let events = client.events
        let log = Task { for await event in events { print("  ", event) } }
        defer { log.cancel() }
        do {
            // The path and the query are encoded: any name is one segment.
            let name = CommandLine.arguments[2]
            let stored: User = try await client.put("users/\(name)", body: .json(User(name: name, age: 7)))
            let found: [User] = try await client.get("users", query: ["name": stored.name, "limit": 5])
            print("found", found.map(\.name))
        } catch let error as HTTPClientError {
            print(error)
            print(String(decoding: error.content.prefix(200), as: UTF8.self))
            exit(1)
        }
    }

    static func makeClient(_ url: URL) throws -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.headers = ["User-Agent": "TypedClient/1"]
        configuration.retryPolicy.maximumAttempts = 4
        configuration.interceptors = [TokenInterceptor { _ in try await signIn(url) }]
        return try HTTPClient(baseURL: url, configuration: configuration)
    }

    /// Gets a token. Requests that need one at the same time wait for one call of this function.
    static func signIn(_ url: URL) async throws -> String {
        try await HTTPClient(baseURL: url).post("tokens", body: .form(["user": "example"]), as: .text)
    }
}
