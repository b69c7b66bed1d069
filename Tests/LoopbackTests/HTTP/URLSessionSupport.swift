import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation

/// A log of the requests that a server has received.
final class RequestLog: Sendable {
    private let list = LockedValue<[ScriptedRequest]>([])

    var all: [ScriptedRequest] { list.withLock { $0 } }

    func append(_ request: ScriptedRequest) { list.withLock { $0.append(request) } }
}

/// Stores texts in the order in which they were added.
final class TextLog: Sendable {
    private let list = LockedValue<[String]>([])

    var all: [String] { list.withLock { $0 } }

    func append(_ text: String) { list.withLock { $0.append(text) } }
}

/// Calls `load` and returns the `URLError` that it throws; `nil` if it throws no such error.
func failure(_ load: () async throws -> Void) async -> URLError? {
    do {
        try await load()
        return nil
    } catch {
        return error as? URLError
    }
}

/// Returns the code of the `URLError` that a load throws.
func failureCode(_ load: () async throws -> Void) async -> URLError.Code? { await failure(load)?.code }

/// Keeps the metrics of a task.
final class MetricsDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let kept = LockedValue<URLSessionTaskMetrics?>(nil)

    var metrics: URLSessionTaskMetrics? { kept.withLock { $0 } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        kept.withLock { $0 = metrics }
    }
}

/// A delegate that answers challenges only through their sender. It never calls the completion handler.
final class SenderDelegate: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
    private let answer: @Sendable (URLAuthenticationChallenge, any URLAuthenticationChallengeSender) -> Void

    init(_ answer: @escaping @Sendable (URLAuthenticationChallenge, any URLAuthenticationChallengeSender) -> Void) {
        self.answer = answer
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        if let sender = challenge.sender { answer(challenge, sender) }
    }
}

/// A delegate that records the calls from a session as text, in order.
final class EventDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
    typealias Challenge =
        @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?)

    private let list = LockedValue<[String]>([])
    private let failure = LockedValue<(any Error)?>(nil)
    private let answer: Challenge?
    let end = Gate()

    init(answer: Challenge? = nil) { self.answer = answer }

    var events: [String] { list.withLock { $0 } }
    var error: (any Error)? { failure.withLock { $0 } }

    private func note(_ event: String) { list.withLock { $0.append(event) } }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { note("created") }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note(
            "challenge \(challenge.protectionSpace.authenticationMethod.dropFirst(25)) \(challenge.previousFailureCount)"
        )
        let (disposition, credential) = answer?(challenge) ?? (.performDefaultHandling, nil)
        completionHandler(disposition, credential)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        note("sent \(totalBytesSent) of \(totalBytesExpectedToSend)")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        note("informational \(response.statusCode)")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note("data \(data.count)")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        note("wrote \(totalBytesWritten) of \(totalBytesExpectedToWrite)")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        note("file \((try? Data(contentsOf: location).count) ?? -1)")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        note("metrics")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        failure.withLock { $0 = error }
        note(error == nil ? "completed" : "failed")
        end.open()
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { note("invalid") }
}
