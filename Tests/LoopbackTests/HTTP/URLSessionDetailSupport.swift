import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import Foundation

/// A delegate that accepts every server. It implements only the session-level method.
final class TrustingDelegate: NSObject, URLSessionDelegate, @unchecked Sendable {
    private let list = LockedValue<[URLProtectionSpace]>([])

    var spaces: [URLProtectionSpace] { list.withLock { $0 } }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        list.withLock { $0.append(challenge.protectionSpace) }
        completionHandler(.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
    }
}

/// Follows no redirect.
final class RefusingDelegate: NSObject, NSURLConnectionDataDelegate, @unchecked Sendable {
    private let list = LockedValue<[String]>([])
    private let usesCredentials: Bool
    let end = Gate()

    init(usesCredentials: Bool = true) { self.usesCredentials = usesCredentials }

    func connectionShouldUseCredentialStorage(_ connection: NSURLConnection) -> Bool { usesCredentials }

    var events: [String] { list.withLock { $0 } }

    private func note(_ event: String) { list.withLock { $0.append(event) } }

    func connection(
        _ connection: NSURLConnection, willSend request: URLRequest, redirectResponse response: URLResponse?
    ) -> URLRequest? {
        guard let response = response as? HTTPURLResponse else {
            note("send")
            return request
        }
        note("redirect \(response.statusCode)")
        return nil
    }

    func connection(_ connection: NSURLConnection, didReceive response: URLResponse) {
        note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
    }

    func connection(_ connection: NSURLConnection, didReceive data: Data) {
        note("data " + String(decoding: data, as: UTF8.self))
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
