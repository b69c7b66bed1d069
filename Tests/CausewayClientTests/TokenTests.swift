@testable import CausewayClient
import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

@Suite("Client: tokens")
struct TokenTests {
    @Test("A late refusal of an old token refreshes nothing, and a new token that is refused is not refreshed again")
    func state() {
        var state = TokenState(token: "a")
        #expect(state.refused("a", resends: 0) == .refresh(generation: 0))
        state.refreshed("b", replacing: 0)
        state.refreshed("late", replacing: 0)
        #expect(state.token == "b")
        #expect(state.refused("a", resends: 0) == .useCurrent)
        #expect(state.refused("b", resends: 1) == .fail)
        #expect(state.refused("b", resends: 0) == .refresh(generation: 1))
    }

    /// A server that accepts requests with one token, and refuses all other requests with status 401.
    private static func server(accepting token: String) -> ScriptedServer {
        ScriptedServer { request, _ in
            let isGood = request.value(forHTTPHeaderField: "Authorization") == "Bearer \(token)"
            return try answer("[]", status: isGood ? 200 : 401)
        }
    }

    @Test("100 requests with an old token wait for one refresh, and each is sent twice")
    func once() async throws {
        let refreshes = LockedValue<[String?]>([])
        let gate = Gate()
        let interceptor = TokenInterceptor(token: "old") { old in
            refreshes.withLock { $0.append(old) }
            await gate.wait()
            return "new"
        }
        let server = Self.server(accepting: "new")
        let client = try server.client { $0.interceptors = [interceptor] }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 { group.addTask { try await client.post("a/\(number)", as: .none) } }
            await until { server.requests.count == 100 }
            gate.open()
            try await group.waitForAll()
        }
        #expect(refreshes.withLock { $0 } == ["old"] && server.requests.count == 200 && interceptor.token == "new")
        try await client.get("b", as: .none)
        #expect(server.requests.count == 201)
    }

    @Test("The first token is fetched once, before the first request")
    func first() async throws {
        let refreshes = LockedValue(0)
        let gate = Gate()
        let interceptor = TokenInterceptor { old in
            refreshes.withLock { $0 += old == nil ? 1 : 100 }
            await gate.wait()
            return "t"
        }
        let server = Self.server(accepting: "t")
        let client = try server.client { $0.interceptors = [interceptor] }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<10 { group.addTask { try await client.get("a/\(number)", as: .none) } }
            await until { refreshes.withLock { $0 } > 0 }
            gate.open()
            try await group.waitForAll()
        }
        #expect(refreshes.withLock { $0 } == 1 && server.requests.count == 10)
    }

    @Test("Cancelling the request that began the refresh does not cancel it for the others")
    func cancelledFirst() async throws {
        let refreshes = LockedValue(0)
        let gate = Gate()
        let interceptor = TokenInterceptor(token: "old") { _ in
            refreshes.withLock { $0 += 1 }
            await gate.wait()
            try Task.checkCancellation()
            return "new"
        }
        let server = Self.server(accepting: "new")
        let client = try server.client { $0.interceptors = [interceptor] }
        let first = Task { try await client.get("a", as: .none) }
        await until { refreshes.withLock { $0 } == 1 }
        let second = Task { try await client.get("b", as: .none) }
        await until { server.requests.count == 2 }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        try await second.value
        #expect(interceptor.token == "new")
    }

    @Test("A refresh that fails, and a token that is refused twice, deliver the response 401")
    func failures() async throws {
        let server = Self.server(accepting: "never")
        let broken = TokenInterceptor(token: "old") { _ in throw URLError(.userAuthenticationRequired) }
        let first = try server.client { $0.interceptors = [broken] }
        let error = await failure { try await first.get("a", as: .none) }
        #expect(error?.status == 401 && server.requests.count == 1)
        let useless = TokenInterceptor(token: "old") { ($0 ?? "") + "x" }
        let second = try server.client { $0.interceptors = [useless] }
        let again = await failure { try await second.get("a", as: .none) }
        #expect(again?.status == 401 && again?.attempts == 2 && useless.token == "oldx")
    }
}
