internal import Causeway
internal import Foundation

/// Forwards a data task's delegate callbacks to the delegate of an ``NSURLConnection``. SAFETY: the stored properties are constants of
/// thread-safe types.
final class ConnectionAdapter: NSObject, DeferringDelegate, @unchecked Sendable {
    /// A connection lives until its task completes, as on Apple platforms. The task retains this adapter, and the
    /// adapter retains the connection.
    private let connection: NSURLConnection
    private let events: ConnectionEvents<any NSURLConnectionDelegate>

    init(_ connection: NSURLConnection, _ events: ConnectionEvents<any NSURLConnectionDelegate>) {
        self.connection = connection
        self.events = events
        super.init()
    }

    private func add(_ event: @escaping @Sendable (any NSURLConnectionDataDelegate) -> Void) {
        events.add { delegate in
            if let delegate = delegate as? any NSURLConnectionDataDelegate { event(delegate) }
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        events.add { [connection] delegate in
            guard let delegate = delegate as? any NSURLConnectionDataDelegate else { return completionHandler(request) }
            completionHandler(delegate.connection(connection, willSend: request, redirectResponse: response))
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let sender = ConnectionChallengeSender(completionHandler)
        let own = URLAuthenticationChallenge(authenticationChallenge: challenge, sender: sender)
        events.add { [connection] in $0.connection(connection, willSendRequestFor: own) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        events.add { [connection] delegate in
            let delegate = delegate as? any NSURLConnectionDataDelegate
            completionHandler(delegate?.connection(connection, needNewBodyStream: connection.currentRequest))
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        add { [connection] in
            $0.connection(
                connection, didSendBodyData: Int(bytesSent), totalBytesWritten: Int(totalBytesSent),
                totalBytesExpectedToWrite: Int(totalBytesExpectedToSend))
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        events.add { [connection] delegate in
            (delegate as? any NSURLConnectionDataDelegate)?.connection(connection, didReceive: response)
            completionHandler(.allow)
        }
    }

    func receive(_ data: Data, of task: URLSessionDataTask, taken: @escaping @Sendable () -> Void) {
        events.add { [connection] delegate in
            // Call `taken` first, so that the content no longer counts as undelivered. The delegate method may run the
            // run loop to receive more content. Undelivered content can pause the load.
            taken()
            (delegate as? any NSURLConnectionDataDelegate)?.connection(connection, didReceive: data)
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        events.add { [connection] delegate in
            guard let delegate = delegate as? any NSURLConnectionDataDelegate else {
                return completionHandler(proposedResponse)
            }
            completionHandler(delegate.connection(connection, willCacheResponse: proposedResponse))
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        events.addLast { [connection] delegate in
            if let error { return delegate.connection(connection, didFailWithError: error) }
            (delegate as? any NSURLConnectionDataDelegate)?.connectionDidFinishLoading(connection)
        }
    }
}

/// Passes an `NSURLConnection` delegate's decision on a challenge to the task.
// SAFETY: the stored property is a constant of a thread-safe type.
final class ConnectionChallengeSender: NSObject, URLAuthenticationChallengeSender, @unchecked Sendable {
    private let answer: ChallengeAnswer

    init(_ answer: @escaping ChallengeAnswer) {
        self.answer = answer
        super.init()
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        answer(.useCredential, credential)
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { answer(.useCredential, nil) }

    func cancel(_ challenge: URLAuthenticationChallenge) { answer(.cancelAuthenticationChallenge, nil) }

    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { answer(.performDefaultHandling, nil) }

    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        answer(.rejectProtectionSpace, nil)
    }
}
