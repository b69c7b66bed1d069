import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation
import Testing

enum Redirecting: CaseIterable, Sendable { case follow, change, refuse }

enum Storing: CaseIterable, Sendable { case store, change, refuse }

/// A delegate that records the messages from a connection.
final class CookbookDelegate: NSObject, NSURLConnectionDataDelegate, @unchecked Sendable {
    private let list = LockedValue<[String]>([])
    private let redirecting: Redirecting
    private let storing: Storing
    private let end = Gate()

    init(_ redirecting: Redirecting = .follow, storing: Storing = .store) {
        self.redirecting = redirecting
        self.storing = storing
    }

    var events: [String] { list.withLock { $0 } }

    private func note(_ event: String) { list.withLock { $0.append(event) } }

    /// Loads a request, and waits for the delegate's last message.
    func load(_ request: URLRequest) async throws {
        let connection = try #require(NSURLConnection(request: request, delegate: self, startImmediately: false))
        connection.setDelegateQueue(OperationQueue())
        connection.start()
        await end.wait()
    }

    func connection(
        _ connection: NSURLConnection, willSend request: URLRequest, redirectResponse response: URLResponse?
    ) -> URLRequest? {
        note(response == nil ? "send" : "redirect")
        guard response != nil else { return request }
        switch redirecting {
        case .follow: return request
        case .refuse: return nil
        case .change:
            var request = request
            request.url = URL(string: "/other", relativeTo: request.url)
            return request
        }
    }

    func connection(_ connection: NSURLConnection, didReceive response: URLResponse) {
        note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
    }

    func connection(_ connection: NSURLConnection, didReceive data: Data) {
        note("data " + String(decoding: data, as: UTF8.self))
    }

    func connection(
        _ connection: NSURLConnection, willCacheResponse cachedResponse: CachedURLResponse
    ) -> CachedURLResponse? {
        note("stores")
        switch storing {
        case .store: return cachedResponse
        case .refuse: return nil
        case .change: return CachedURLResponse(response: cachedResponse.response, data: Data("changed".utf8))
        }
    }

    func connectionDidFinishLoading(_ connection: NSURLConnection) {
        note("finished")
        end.open()
    }

    func connection(_ connection: NSURLConnection, didFailWithError error: any Error) {
        note("failed")
        end.open()
    }
}
