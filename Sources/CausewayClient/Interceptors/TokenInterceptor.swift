internal import CausewaySystem
public import CausewayURLLoading
internal import Foundation

/// Adds a bearer token to requests (RFC 6750), and gets a new token when the server refuses the old token with status
/// 401.
///
/// Requests that are refused with an old token at the same time share one refresh. Each request is repeated once; a
/// second refusal is delivered. Status 401 means that the server did not apply the request (RFC 9110 §15.5.2), so
/// non-idempotent requests are repeated, too.
///
/// ```swift
/// configuration.interceptors = [TokenInterceptor(token: saved) { old in try await signIn(replacing: old) }]
/// ```
public final class TokenInterceptor: RequestInterceptor {
    private let state: LockedValue<TokenState>
    private let refreshes = SharedWork<Int, String>(runner: .task)
    private let refresh: @Sendable (String?) async throws -> String

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - token: The initial token; `nil` to get one before the first request.
    ///   - refresh: Returns a new token. Its argument is the refused token; `nil` if there was none. The closure must
    ///     not use a client with this interceptor, because that would deadlock. The closure is cancelled when no
    ///     request waits for it.
    public init(token: String? = nil, refresh: @escaping @Sendable (_ refused: String?) async throws -> String) {
        state = LockedValue(TokenState(token: token))
        self.refresh = refresh
    }

    /// The current token.
    public var token: String? { state.withLock { $0.token } }

    /// Adds the token to the request. If there is no token yet, gets one first. A request with an `Authorization` field
    /// is not changed.
    public func adapt(_ request: URLRequest, attempt: Int) async throws -> URLRequest {
        guard request.value(forHTTPHeaderField: "Authorization") == nil else { return request }
        let (token, generation) = state.withLock { ($0.token, $0.generation) }
        let current = if let token { token } else { try await newToken(replacing: nil, generation) }
        var request = request
        request.setValue(Self.field(current), forHTTPHeaderField: "Authorization")
        return request
    }

    /// Gets a new token after status 401, and repeats the request.
    public func advice(after failure: AttemptFailure) async -> RetryAdvice {
        guard failure.response?.statusCode == 401, let used = usedToken(failure.request) else { return .pass }
        let (verdict, token) = state.withLock { state in (state.refused(used, resends: failure.resends), state.token) }
        switch verdict {
        case .useCurrent: return .resend
        case .fail: return .fail
        case .refresh(let generation):
            do {
                _ = try await newToken(replacing: token, generation)
                return .resend
            } catch {
                // Deliver the 401 response, because it explains more than the error of the token refresh.
                return .fail
            }
        }
    }

    private func newToken(replacing old: String?, _ generation: Int) async throws -> String {
        try await refreshes.value(for: generation) { [self] in
            // Another refresh may have ended after the caller read `generation`. In that case, use the token from that
            // refresh.
            let (current, now) = state.withLock { ($0.token, $0.generation) }
            if now != generation, let current { return current }
            let new = try await refresh(old)
            state.withLock { $0.refreshed(new, replacing: generation) }
            return new
        }
    }

    private func usedToken(_ request: URLRequest) -> String? {
        guard let field = request.value(forHTTPHeaderField: "Authorization"), field.hasPrefix("Bearer ") else {
            return nil
        }
        return String(field.dropFirst(7))
    }

    private static func field(_ token: String) -> String { "Bearer " + token }
}
