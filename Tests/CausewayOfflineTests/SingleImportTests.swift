import CausewayOffline
import Foundation
import Testing

@Suite("A program with CausewayOffline alone")
struct SingleImportTests {
    @Test("It names clients, requests, sessions and policies")
    func names() throws {
        var request = ClientRequest("PUT", "notes/1")
        request.body = .json(["text": "a"])
        let settings: URLSessionConfiguration = .ephemeral
        let url = try #require(URL(string: "https://api.example/v1"))
        let client = try HTTPClient(baseURL: url, configuration: HTTPClient.Configuration(session: settings))
        #expect(client.baseURL == url && request.isIdempotent)
        var configuration = OfflineEngine.Configuration()
        configuration.policy = OfflinePolicy()
        configuration.resolver = { conflict -> OfflineDecision<ClientRequest> in
            let response: HTTPURLResponse = conflict.response
            return response.statusCode == 409 ? .rewrite(ClientRequest("PUT", "notes/2")) : .drop
        }
        let hasResolver = configuration.resolver != nil
        #expect(hasResolver)
    }
}
