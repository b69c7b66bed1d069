internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// Loads with a ``URLProtocol`` class of the program.
final class ProtocolLoader: Loader {
    private enum Progress {
        case ready(URLProtocol)
        case loading(URLProtocol)
        case ended
    }

    private let client: ProtocolClient
    private let queue = DispatchQueue(label: "causeway.url-protocol", target: .global())
    private let progress: LockedValue<Progress>

    /// Creates the object of the program.
    init(
        _ type: URLProtocol.Type, task: URLSessionTask, cachedResponse: CachedURLResponse?, for attempt: LoadAttempt
    ) {
        client = ProtocolClient(attempt)
        let object = type.init(task: task, cachedResponse: cachedResponse, client: client)
        progress = LockedValue(.ready(object))
    }

    /// Calls `startLoading` and later `stopLoading` on one queue, so that the object of the program sees them in order.
    func start() {
        queue.async { [self] in
            let object = progress.withLock { progress -> URLProtocol? in
                guard case .ready(let object) = progress else { return nil }
                progress = .loading(object)
                return object
            }
            object?.startLoading()
        }
    }

    /// Objects of programs cannot be stopped and continued. What they deliver is kept.
    func demandChanged() {}

    func stop() {
        client.close()
        queue.async { [self] in
            let object = progress.withLock { progress -> URLProtocol? in
                defer { progress = .ended }
                if case .loading(let object) = progress { return object }
                return nil
            }
            object?.stopLoading()
        }
    }
}

/// Passes the calls of a ``URLProtocol`` on to a task, in order and until the end.
// SAFETY: the stored properties are a constant and a lock.
final class ProtocolClient: NSObject, URLProtocolClient, @unchecked Sendable {
    private let attempt: LoadAttempt
    private let isOpen = LockedValue(true)

    init(_ attempt: LoadAttempt) {
        self.attempt = attempt
        super.init()
    }

    /// Ends reporting.
    func close() { isOpen.withLock { $0 = false } }

    private func report(_ event: LoadEvent) {
        if isOpen.withLock({ $0 }) { attempt.report(event) }
    }

    /// Reports the last event.
    private func end(_ event: LoadEvent) {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { attempt.report(event) }
    }

    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {
        if let response = redirectResponse as? HTTPURLResponse {
            end(.redirect(to: request, response))
        } else {
            end(.continuation(request))
        }
    }

    func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
        var record = TransactionRecord(request: attempt.request)
        record.fetchType = .localCache
        report(.measured(record))
        report(.response(cachedResponse.response, .notAllowed))
        if !cachedResponse.data.isEmpty { report(.data(cachedResponse.data)) }
        end(.finished)
    }

    func urlProtocol(
        _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
    ) {
        report(.response(response, policy))
    }

    func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) {
        if !data.isEmpty { report(.data(data)) }
    }

    func urlProtocolDidFinishLoading(_ protocol: URLProtocol) { end(.finished) }

    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) { end(.failed(error)) }

    func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
        let answer: ChallengeAnswer = { disposition, credential in
            guard let sender = challenge.sender else { return }
            switch disposition {
            case .useCredential:
                if let credential {
                    sender.use(credential, for: challenge)
                } else {
                    sender.continueWithoutCredential(for: challenge)
                }
            case .performDefaultHandling: sender.performDefaultHandling(for: challenge)
            case .cancelAuthenticationChallenge: sender.cancel(challenge)
            case .rejectProtectionSpace: sender.rejectProtectionSpaceAndContinue(with: challenge)
            }
        }
        report(.challenge(challenge, answer: answer))
    }

    func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {}
}
