@testable import CausewayClient
import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation

/// A fake server without a network. It stores the requests, and a closure supplies the responses.
final class ScriptedServer: Sendable {
    typealias Script = @Sendable (URLRequest, _ number: Int) async throws -> (Data, HTTPURLResponse)

    private let kept = LockedValue<[URLRequest]>([])
    private let script: Script

    init(_ script: @escaping Script) { self.script = script }

    /// The requests that the test server has received, in order.
    var requests: [URLRequest] { kept.withLock { $0 } }

    /// Creates a client that sends its requests to this test server.
    func client(
        _ base: String = "https://api.example/v1", clock: any Clock<Duration> = VirtualClock(),
        reachability: any ReachabilitySource = ScriptedNetwork(Reachability(.wired)),
        _ change: (inout HTTPClient.Configuration) -> Void = { _ in }
    ) throws -> HTTPClient {
        var configuration = HTTPClient.Configuration(session: .ephemeral)
        change(&configuration)
        guard let url = URL(string: base) else { throw URLError(.badURL) }
        return try HTTPClient(
            baseURL: url, configuration: configuration, session: URLSession(configuration: .ephemeral),
            loader: { [self] request, _ in
                let number = kept.withLock { kept in
                    kept.append(request)
                    return kept.count
                }
                return try await script(request, number)
            }, clock: clock, reachability: reachability)
    }
}

/// Returns a response.
func answer(
    _ text: String = "", status: Int = 200, _ fields: [String: String] = ["Content-Type": "application/json"]
) throws -> (Data, HTTPURLResponse) {
    guard let url = URL(string: "https://api.example/"),
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
    else { throw URLError(.badServerResponse) }
    return (Data(text.utf8), response)
}

/// Returns the ``HTTPClientError`` that a call throws. Returns `nil` if it throws no error or another type.
func failure(_ call: () async throws -> Void) async -> HTTPClientError? {
    do {
        try await call()
        return nil
    } catch {
        return error as? HTTPClientError
    }
}

/// A network for tests, whose state the test changes.
final class ScriptedNetwork: ReachabilitySource {
    private struct State {
        var now: Reachability
        /// The network state that replaces `now` when the state has been read once more.
        var late: Reachability?
        var followers: [@Sendable () -> Void] = []
    }

    private let state: LockedValue<State>

    init(_ now: Reachability) { state = LockedValue(State(now: now)) }

    func current() -> Reachability {
        let (now, late) = state.withLock { state in
            defer { state.late = nil }
            return (state.now, state.late)
        }
        if let late { change(to: late) }
        return now
    }

    /// Schedules a state change during the next read. That read still returns the old state.
    func changeLate(to new: Reachability) { state.withLock { $0.late = new } }

    func follow(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        state.withLock { $0.followers.append(body) }
        return {}
    }

    func change(to new: Reachability) {
        let followers = state.withLock { state in
            state.now = new
            return state.followers
        }
        for follower in followers { follower() }
    }
}

/// Waits until another task makes the condition true.
func until(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}
