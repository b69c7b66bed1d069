internal import Foundation

/// Forwards a data task's delegate callbacks to an ``NSURLDownload``. SAFETY: the stored property is a constant of a thread-safe type.
final class DownloadAdapter: NSObject, DeferringDelegate, @unchecked Sendable {
    private let download: NSURLDownload

    init(_ download: NSURLDownload) {
        self.download = download
        super.init()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        download.events.add { [download] delegate in
            completionHandler(delegate.download(download, willSend: request, redirectResponse: response))
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let sender = ConnectionChallengeSender(completionHandler)
        let own = URLAuthenticationChallenge(authenticationChallenge: challenge, sender: sender)
        download.events.add { [download] delegate in
            let space = own.protectionSpace
            guard delegate.download(download, canAuthenticateAgainstProtectionSpace: space) else {
                return completionHandler(.performDefaultHandling, nil)
            }
            delegate.download(download, didReceive: own)
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        download.events.add { [download] delegate in
            do throws(LoadFailure) {
                try download.received(response, delegate)
                completionHandler(.allow)
            } catch {
                download.end(error.urlError(for: response.url))
                completionHandler(.cancel)
            }
        }
    }

    func receive(_ data: Data, of task: URLSessionDataTask, taken: @escaping @Sendable () -> Void) {
        download.events.add { [download] delegate in
            taken()
            do throws(LoadFailure) {
                try download.received(data, delegate)
            } catch {
                download.end(error.urlError(for: download.request.url))
                task.cancel()
            }
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        download.end(error)
    }
}
