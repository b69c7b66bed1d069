@testable import CausewayClient
import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

@Suite("Client: repetitions")
struct RetryTests {
    @Test("The bound of the wait doubles up to its maximum, for any number of attempts")
    func bounds() {
        let policy = RetryPolicy.standard
        let bounds = [1, 2, 3, 6, 7, 8, 1_000, .max].map { policy.bound(after: $0) }
        #expect(bounds == [0.5, 1, 2, 16, 30, 30, 30, 30].map { .seconds($0) })
        var odd = policy
        (odd.baseDelay, odd.maximumDelay) = (.seconds(-1), .seconds(Int64.max / 4))
        #expect(odd.bound(after: 200) == .zero)
    }

    @Test("The jitter is full: waits are spread from zero to the bound")
    func jitter() throws {
        var random = SplitMix64(seed: 7)
        var policy = RetryPolicy.standard
        policy.maximumAttempts = 10
        let waits = try (0..<1_000).map { _ in
            try #require(
                policy.delay(after: .status(503, retryAfter: nil), attempt: 3, isIdempotent: true, using: &random))
        }
        #expect(waits.allSatisfy { $0 >= .zero && $0 <= .seconds(2) })
        for quarter in 0..<4 {
            let share = waits.count { $0 >= .milliseconds(500 * quarter) && $0 < .milliseconds(500 * (quarter + 1)) }
            #expect((200...300).contains(share))
        }
    }

    @Test(
        "What is repeated",
        arguments: [
            (.status(503, retryAfter: nil), 1, true, true), (.status(503, retryAfter: nil), 3, true, false),
            (.status(503, retryAfter: nil), 1, false, false), (.status(404, retryAfter: nil), 1, true, false),
            (.status(429, retryAfter: .seconds(120)), 1, true, true),
            (.status(429, retryAfter: .seconds(121)), 1, true, false),
            (.error(.timedOut), 2, true, true), (.error(.timedOut), 1, false, false),
            (.error(.cancelled), 1, true, false),
            (.error(.badURL), 1, true, false),
        ] as [(RetryPolicy.Outcome, Int, Bool, Bool)])
    func decisions(_ outcome: RetryPolicy.Outcome, _ attempt: Int, _ isIdempotent: Bool, _ isRepeated: Bool) {
        var random = SplitMix64(seed: 1)
        let wait = RetryPolicy.standard.delay(
            after: outcome, attempt: attempt, isIdempotent: isIdempotent, using: &random)
        #expect((wait != nil) == isRepeated)
        if case .status(_, .some(let demanded)) = outcome, let wait { #expect(wait >= demanded) }
    }

    @Test("A request waits as the server demands, and succeeds at the third attempt")
    func waits() async throws {
        let clock = VirtualClock()
        let server = ScriptedServer { _, number in
            number < 3 ? try answer("", status: 503, ["Retry-After": "\(number * 10)"]) : try answer("[1]")
        }
        let client = try server.client(clock: clock)
        async let value: ClientResponse<[Int]> = client.send(ClientRequest("GET", "a"), as: .json())
        for (number, demanded) in [(1, 10), (2, 20)] {
            await until { clock.waitingCount == 1 }
            let wait = clock.nextDeadline.map { clock.now.duration(to: $0) } ?? .zero
            #expect(
                wait >= .seconds(demanded) && wait <= .seconds(demanded) + RetryPolicy.standard.bound(after: number))
            #expect(server.requests.count == number)
            clock.advanceToNextDeadline()
        }
        let response = try await value
        #expect(response.value == [1] && response.attempts == 3 && server.requests.count == 3)
    }

    @Test(
        "What is not idempotent is never sent twice without the program's word",
        arguments: ["POST", "PATCH", "CONNECT", "get"])
    func notIdempotent(_ method: String) async throws {
        let server = ScriptedServer { _, number in
            if number == 2 { throw URLError(.timedOut) }
            return try answer("", status: 503)
        }
        let eager = Advice { _ in .retry(after: .zero) }
        let client = try server.client { $0.interceptors = [eager] }
        for count in 1...2 {
            let error = await failure { _ = try await client.send(ClientRequest(method, "a"), as: .none) }
            #expect(error?.attempts == 1 && server.requests.count == count)
        }
    }

    @Test("With the program's word, a POST is repeated")
    func idempotentPost() async throws {
        let server = ScriptedServer { _, number in try answer("", status: number == 1 ? 503 : 200) }
        var request = ClientRequest("POST", "a")
        request.isIdempotent = true
        var policy = RetryPolicy.standard
        policy.baseDelay = .zero
        request.retryPolicy = policy
        #expect(try await server.client().send(request, as: .none).attempts == 2)
    }

    @Test("Advice of interceptors is limited, and a failure keeps the last response")
    func limited() async throws {
        let server = ScriptedServer { _, number in try answer("\(number)", status: 409) }
        let client = try server.client { $0.interceptors = [Advice { _ in .resend }] }
        let error = await failure { try await client.post("a", as: .none) }
        #expect(error?.attempts == 6 && error?.content == Data("6".utf8) && server.requests.count == 6)
    }

    @Test("Interceptors change each attempt in order, and their errors end the request")
    func adapting() async throws {
        let server = ScriptedServer { _, _ in try answer() }
        let first = RequestAdapter { $0.setValue("1", forHTTPHeaderField: "X") }
        let second = RequestAdapter { request in
            request.setValue((request.value(forHTTPHeaderField: "X") ?? "") + "2", forHTTPHeaderField: "X")
        }
        let client = try server.client { $0.interceptors = [first, second] }
        try await client.get("a", as: .none)
        #expect(server.requests.first?.value(forHTTPHeaderField: "X") == "12")
        let failing = try server.client {
            $0.interceptors = [RequestAdapter { _ in throw URLError(.userAuthenticationRequired) }]
        }
        let error = await failure { try await failing.get("a", as: .none) }
        #expect(error?.code == .interceptor && server.requests.count == 1)
    }

    @Test("A wait is cancelled at once")
    func cancelled() async throws {
        let clock = VirtualClock()
        let server = ScriptedServer { _, _ in throw URLError(.networkConnectionLost) }
        let client = try server.client(clock: clock)
        let task = Task { try await client.get("a", as: .none) }
        await until { clock.waitingCount == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.requests.count == 1 && client.activeCallCount == 0)
    }
}

/// An interceptor for tests. A closure decides which advice it returns.
struct Advice: RequestInterceptor {
    let body: @Sendable (AttemptFailure) -> RetryAdvice

    init(_ body: @escaping @Sendable (AttemptFailure) -> RetryAdvice) { self.body = body }

    func advice(after failure: AttemptFailure) async -> RetryAdvice { body(failure) }
}
