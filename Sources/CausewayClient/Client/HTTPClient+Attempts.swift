package import CausewayURLLoading
internal import CausewayWire
internal import Foundation

/// A response, its content, and the number of attempts. The content is in memory, in a file, or still arriving.
struct Exchange<Content: Sendable>: Sendable {
    let content: Content
    let response: HTTPURLResponse
    let attempts: Int
}

/// Counts the attempts for one request, and the repetitions that interceptors have demanded.
private struct AttemptCounts {
    /// The maximum number of repetitions that interceptors demand, so that two interceptors cannot repeat a request
    /// forever.
    static let adviceLimit = 5

    var attempt = 1
    /// The number of repetitions that interceptors have demanded. ``resends`` counts those that were demanded with
    /// ``RetryAdvice/resend``; they count here too.
    var advised = 0
    var resends = 0
    /// The fate of the requests before the current one.
    var earlier = EarlierRequests.none

    /// Adds a request that has failed and is sent again. With a response, a demand to resend the request states that
    /// the server did not apply it.
    mutating func noteRepetition(after failure: AttemptFailure, isResent: Bool = false) {
        let fate =
            if let response = failure.response {
                isResent ? EarlierRequests.refused : EarlierRequests(status: response.statusCode)
            } else {
                EarlierRequests(after: failure.error)
            }
        earlier = max(earlier, fate)
    }
}

extension HTTPClient {
    /// Performs one attempt. Returns the content and the response.
    typealias Loader<Content> = @Sendable (URLRequest) async throws -> (Content, HTTPURLResponse)

    /// Sends a request, and repeats it as the interceptors and the policy decide.
    ///
    /// - Parameters:
    ///   - prepared: The request.
    ///   - call: The call's number, for events.
    ///   - discard: Releases the content of an attempt that is repeated.
    ///   - load: Performs one attempt.
    /// - Throws: ``HTTPClientError`` or `CancellationError`.
    func perform<Content: Sendable>(
        _ prepared: PreparedRequest, call: UInt64, discarding discard: @Sendable (Content) -> Void = { _ in },
        _ load: Loader<Content>
    ) async throws -> Exchange<Content> {
        if configuration.meteredPolicy.treatment != .allow { try await awaitPermission(prepared, call) }
        let isAdapted = !configuration.interceptors.isEmpty
        var counts = AttemptCounts()
        while true {
            try Task.checkCancellation()
            let request = isAdapted ? try await adapted(prepared.urlRequest, counts) : prepared.urlRequest
            report(call, prepared) { .sent(attempt: counts.attempt) }
            let result: Result<(Content, HTTPURLResponse), any Error>
            do {
                let loaded =
                    if let gate { try await gate.run { try await load(request) } } else { try await load(request) }
                result = .success(loaded)
            } catch {
                result = .failure(error)
            }
            // The offline queue would repeat an operation whose response was discarded because of a cancellation.
            let isWanted = !Task.isCancelled || prepared.request.rules.isQueued
            if isWanted, case .success((let content, let response)) = result, response.statusCode < 400 {
                return Exchange(content: content, response: response, attempts: counts.attempt)
            }
            let failure = Self.failure(of: result.map(\.1), request, prepared, counts)
            let wait = Task.isCancelled ? nil : await wait(after: failure, prepared, &counts)
            // `wait` is `nil` if no further attempt follows. If the task was cancelled, an interceptor may have been
            // interrupted while it decided. In that case, throw `CancellationError` instead of returning the attempt's
            // result.
            if !Task.isCancelled, wait == nil { return try Self.exchange(result, request, counts) }
            if case .success((let content, _)) = result { discard(content) }
            guard let wait else { throw CancellationError() }
            report(call, prepared) { .willRetry(after: wait, because: Self.reason(failure)) }
            counts.attempt += 1
            if wait > .zero { try await clock.sleep(for: wait) }
        }
    }

    private func adapted(_ request: URLRequest, _ counts: AttemptCounts) async throws -> URLRequest {
        var adapted = request
        do {
            for interceptor in configuration.interceptors {
                adapted = try await interceptor.adapt(adapted, attempt: counts.attempt)
            }
        } catch {
            try Task.checkCancellation()
            throw HTTPClientError(.interceptor, "\(error)", underlying: error)
                .about(request, attempts: counts.attempt - 1).after(counts.earlier)
        }
        return adapted
    }

    private static func failure(
        of result: Result<HTTPURLResponse, any Error>, _ request: URLRequest, _ prepared: PreparedRequest,
        _ counts: AttemptCounts
    ) -> AttemptFailure {
        var (response, error): (HTTPURLResponse?, (any Error)?) = (nil, nil)
        switch result {
        case .success(let received): response = received
        case .failure(let thrown): error = thrown
        }
        return AttemptFailure(
            request: request, attempt: counts.attempt, resends: counts.resends, response: response, error: error,
            isIdempotent: prepared.request.isIdempotent && !prepared.request.rules.isQueued)
    }

    /// Decides whether to retry after a failed attempt. Returns the wait before the next attempt; `nil` if there is
    /// none.
    private func wait(
        after failure: AttemptFailure, _ prepared: PreparedRequest, _ counts: inout AttemptCounts
    ) async -> Duration? {
        for interceptor in configuration.interceptors {
            switch await interceptor.advice(after: failure) {
            case .pass: continue
            case .fail: return nil
            case .retry(let wait):
                guard failure.isIdempotent, counts.advised < AttemptCounts.adviceLimit else { return nil }
                counts.advised += 1
                counts.noteRepetition(after: failure)
                return max(wait, .zero)
            case .resend:
                guard counts.advised < AttemptCounts.adviceLimit else { return nil }
                counts.advised += 1
                counts.resends += 1
                counts.noteRepetition(after: failure, isResent: true)
                return .zero
            }
        }
        guard let outcome = Self.outcome(failure) else { return nil }
        var random = SystemRandomNumberGenerator()
        let policy = prepared.request.retryPolicy ?? configuration.retryPolicy
        let delay = policy.delay(
            after: outcome, attempt: failure.attempt - counts.advised, isIdempotent: failure.isIdempotent,
            using: &random)
        if delay != nil { counts.noteRepetition(after: failure) }
        return delay
    }

    private static func outcome(_ failure: AttemptFailure) -> RetryPolicy.Outcome? {
        if let response = failure.response {
            return .status(response.statusCode, retryAfter: retryAfter(of: response))
        }
        return (failure.error as? URLError).map { .error($0.code) }
    }

    /// Returns the delay that a response demands with `Retry-After` (RFC 9110 §10.2.3).
    package static func retryAfter(of response: HTTPURLResponse) -> Duration? {
        let now = Int(Date().timeIntervalSince1970)
        let field = response.value(forHTTPHeaderField: "Retry-After")
        return field.flatMap { RetryAfter(parsing: $0, now: now) }.map { .seconds($0.delay(now: now)) }
    }

    private static func reason(_ failure: AttemptFailure) -> String {
        if let response = failure.response { return "status \(response.statusCode)" }
        return (failure.error as? URLError).map { "URLError \($0.code.rawValue)" } ?? "error"
    }

    private static func exchange<Content: Sendable>(
        _ result: Result<(Content, HTTPURLResponse), any Error>, _ request: URLRequest, _ counts: AttemptCounts
    ) throws -> Exchange<Content> {
        do {
            let (content, response) = try result.get()
            return Exchange(content: content, response: response, attempts: counts.attempt)
        } catch let error as HTTPClientError {
            throw error.about(request, error.response, error.content, attempts: counts.attempt).after(counts.earlier)
        } catch {
            let message = (error as? URLError)?.localizedDescription ?? "\(error)"
            // If the request after a redirect failed, the server has received the request before the redirect.
            let isRedirected = (error as? URLError)?.isAfterMethodChange == true
            throw HTTPClientError(.transport, message, underlying: error).about(request, attempts: counts.attempt)
                .after(isRedirected ? .unknown : counts.earlier)
        }
    }

    /// Waits until a large transfer may start under the policy for metered networks.
    private func awaitPermission(_ prepared: PreparedRequest, _ call: UInt64) async throws {
        let policy = configuration.meteredPolicy
        let size = max(prepared.source.byteCount ?? 0, prepared.request.expectedByteCount ?? 0)
        switch policy.treatment(of: size, on: network.current) {
        case .allow: return
        case .refuse:
            throw HTTPClientError(.meteredNetwork, "\(size) bytes, and the network is metered")
                .about(prepared.urlRequest, attempts: 0)
        case .hold:
            report(call, prepared) { .held }
            for await now in network.updates() where policy.treatment(of: size, on: now) == .allow { return }
            try Task.checkCancellation()
        }
    }
}
