internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// Loads a request with a ``URLProtocol`` subclass of the program.
final class ProtocolLoader: Loader {
    private enum Progress {
        case ready(URLProtocol)
        case loading(URLProtocol)
        case ended
    }

    private let client: ProtocolClient
    private let queue = DispatchQueue(label: "causeway.url-protocol", target: .global())
    private let progress: LockedValue<Progress>

    /// Creates the loader and its ``URLProtocol`` object.
    init(
        _ type: URLProtocol.Type, task: URLSessionTask, cachedResponse: CachedURLResponse?, for attempt: LoadAttempt
    ) {
        client = ProtocolClient(attempt)
        let object = type.init(task: task, cachedResponse: cachedResponse, client: client)
        progress = LockedValue(.ready(object))
    }

    /// Calls `startLoading` on the queue on which `stopLoading` is called later. So the `URLProtocol` object receives
    /// the two calls in order.
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

    /// Does nothing, because the loader cannot pause a `URLProtocol` object. If the task wants no content, the content
    /// is buffered.
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

/// Forwards a ``URLProtocol`` object's client calls to a task, in order, until the load ends. SAFETY: the stored properties are a constant
/// and a lock.
final class ProtocolClient: NSObject, URLProtocolClient, @unchecked Sendable {
    private let attempt: LoadAttempt
    private let isOpen = LockedValue(true)

    init(_ attempt: LoadAttempt) {
        self.attempt = attempt
        super.init()
    }

    /// Stops reporting events to the task.
    func close() { isOpen.withLock { $0 = false } }

    private func report(_ event: LoadEvent) {
        if isOpen.withLock({ $0 }) { attempt.report(event) }
    }

    /// Reports the final event of the load.
    private func end(_ event: LoadEvent) {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { attempt.report(event) }
    }

    func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {
        if let response = redirectResponse as? HTTPURLResponse {
            end(.redirect(Redirect(request: request, response: response)))
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

    func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) {
        end(.failed(LoadFailure.bridged(error)))
    }

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
