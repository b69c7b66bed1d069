import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Dispatch
import Foundation
import Testing

/// Records the events of a session, and lets a test wait for one.
final class BackgroundEvents: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate {
    private let list = LockedValue<[String]>([])
    private let content = LockedValue(Data())
    let ended = Gate()
    let finished = Gate()
    let invalid = Gate()

    var all: [String] { list.withLock { $0 } }
    var data: Data { content.withLock { $0 } }

    private func note(_ event: String) { list.withLock { $0.append(event) } }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        content.withLock { $0 = (try? Data(contentsOf: location)) ?? Data() }
        note("file \(downloadTask.taskIdentifier)")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        content.withLock { $0 += data }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note("redirect \(response.statusCode)")
        completionHandler(request)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("challenge \(challenge.previousFailureCount)")
        completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("end \(task.taskIdentifier) \((error as? URLError)?.errorCode ?? 0)")
        ended.open()
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        note("events")
        finished.open()
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { invalid.open() }
}

/// A directory for background sessions, and a server for one text. The test decides how often the server stops after a
/// part of the text.
final class TransferPlace: Sendable {
    let root = NSTemporaryDirectory() + "causeway-background-" + UUID().uuidString
    let text = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    let requests = RequestLog()
    let sent = LockedValue(0)
    /// A gate that opens when the server may send the rest of its text.
    let mayEnd = Gate()
    /// A gate that opens when the server has sent a part of the content.
    let partSent = Gate()

    deinit { try? FileManager.default.removeItem(atPath: root) }

    func session(_ events: BackgroundEvents) -> URLSession {
        let configuration = URLSessionConfiguration.background(withIdentifier: "test")
        configuration.timeoutIntervalForRequest = 7_200
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        return URLSession(
            configuration: configuration, delegate: events, transfersIn: root + "/program/test")
    }

    /// Starts a server that sends only a part of the content. It then closes the connection, or keeps it open until
    /// `isOver` opens.
    func server(parts: Int, holdingUntil isOver: Gate?) throws -> ScriptedServer {
        try ScriptedServer { [self] peer in
            guard let request = try await peer.readRequest() else { return }
            requests.append(request)
            let number = requests.all.count
            if number > parts { await mayEnd.wait() }
            let offset = request["range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
            let rest = text[offset...]
            let range = "Content-Range: bytes \(offset)-\(text.count - 1)/\(text.count)\r\n"
            try await peer.write(
                "HTTP/1.1 \(offset > 0 ? "206 Partial Content" : "200 OK")\r\nETag: \"v\"\r\n"
                    + "Content-Length: \(rest.count)\r\n" + (offset > 0 ? range : "") + "\r\n")
            let part = number <= parts ? rest.prefix(20_000) : rest
            // Count before the write: the client can complete the download before the write returns.
            sent.withLock { $0 += part.count }
            try await peer.socket.write(Data(part))
            guard number <= parts else { return }
            partSent.open()
            await isOver?.wait()
        }
    }

    /// Waits until the content in the store has a size.
    func stored(_ count: Int) async throws {
        let path = root + "/program/test/content-1"
        while true {
            // Create the watch first, and then read the size. Otherwise, a change between both steps could be missed.
            let watch = try FileWatch([path])
            let facts = try? FileManager.default.attributesOfItem(atPath: path)
            if (facts?[.size] as? NSNumber)?.intValue == count { return }
            await Self.readable(watch.release())
        }
    }

    /// Waits until a descriptor can be read, and closes it.
    private static func readable(_ descriptor: CInt) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
            source.setEventHandler { source.cancel() }
            source.setCancelHandler {
                close(descriptor)
                continuation.resume()
            }
            source.resume()
        }
    }
}
