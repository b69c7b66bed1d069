@testable import CausewayClient
import CausewayURLLoading
import Foundation
import Testing

@Suite("Client: the fate of the requests before the last one")
struct EarlierRequestTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var advice = RetryAdvice.resend
        /// The status of the first response; `nil` if `error` is thrown instead.
        var status: Int?
        var error = URLError(.networkConnectionLost)
        var earlier: EarlierRequests
        var testDescription: String { name }
    }

    static let rows = [
        Row(name: "401, resent", status: 401, earlier: .refused),
        Row(name: "500, resent", status: 500, earlier: .refused),
        Row(name: "404, repeated", advice: .retry(after: .zero), status: 404, earlier: .refused),
        Row(name: "503, repeated", advice: .retry(after: .zero), status: 503, earlier: .refused),
        Row(name: "500, repeated", advice: .retry(after: .zero), status: 500, earlier: .unknown),
        Row(name: "lost", earlier: .unknown),
        Row(name: "not reached", error: URLError(.cannotConnectToHost), earlier: .none),
        Row(
            name: "not reached after a redirect",
            error: URLError(.cannotConnectToHost, userInfo: ["CausewayMethodAfterRedirect": "GET"]), earlier: .unknown),
    ]

    @Test("The error after a repetition tells what became of the first request", arguments: rows)
    func repeated(_ row: Row) async throws {
        let server = ScriptedServer { _, number in
            guard number == 1 else { throw URLError(.cannotConnectToHost) }
            guard let status = row.status else { throw row.error }
            return try answer(status: status)
        }
        let advice = Advice { failure in failure.attempt == 1 ? row.advice : .fail }
        let client = try server.client { $0.interceptors = [advice] }
        let error = await failure { _ = try await client.send(ClientRequest("PUT", "a"), as: .none) }
        #expect(error?.attempts == 2 && error?.code == .transport && error?.earlier == row.earlier)
    }

    @Test("An interceptor that fails before the second request leaves the fate of the first one")
    func interceptor() async throws {
        struct Broken: RequestInterceptor {
            func adapt(_ request: URLRequest, attempt: Int) async throws -> URLRequest {
                guard attempt == 1 else { throw URLError(.userAuthenticationRequired) }
                return request
            }

            func advice(after failure: AttemptFailure) async -> RetryAdvice { .resend }
        }
        let server = ScriptedServer { _, _ in throw URLError(.timedOut) }
        let client = try server.client { $0.interceptors = [Broken()] }
        let error = await failure { _ = try await client.send(ClientRequest("PUT", "a"), as: .none) }
        #expect(error?.code == .interceptor && error?.attempts == 1 && error?.earlier == .unknown)
    }

    @Test("The first failure has no earlier requests, unless it follows a redirect", arguments: [false, true])
    func first(_ isRedirected: Bool) async throws {
        let userInfo: [String: Any] = isRedirected ? ["CausewayMethodAfterRedirect": "GET"] : [:]
        let thrown = URLError(.cannotConnectToHost, userInfo: userInfo)
        let server = ScriptedServer { _, _ in throw thrown }
        let error = await failure { try await server.client().post("a", as: .none) }
        #expect(error?.earlier == (isRedirected ? .unknown : EarlierRequests.none))
    }
}
