// Test cases that need a server: cookies, credentials, upload progress, and blocking functions in Foundation.
import Foundation
import FoundationNetworking
import Testing

/// Client design 51: a delegate that answers an authentication challenge with a password.
private final class LoginDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    let failures = Box<[Int]>([])

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        failures.change { $0.append(challenge.previousFailureCount) }
        guard challenge.previousFailureCount < 2 else { return completionHandler(.performDefaultHandling, nil) }
        let password = challenge.previousFailureCount == 0 ? "wrong" : "right"
        completionHandler(.useCredential, URLCredential(user: "u", password: password, persistence: .none))
    }
}

/// Shape 52: a login delegate with an `async` method.
private final class AsyncLoginDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        (.useCredential, URLCredential(user: "u", password: "right", persistence: .forSession))
    }
}

/// Test shape 53: a delegate that observes an upload's progress.
private final class ProgressDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    let totals = Box<[Int64]>([])

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        totals.change { $0.append(totalBytesSent) }
    }
}

@Suite("Shapes: with a server")
struct NetworkShapes {
    private func locked() -> Origin {
        Origin(.loopback) { asked in
            asked.field("Authorization") == "Basic " + Data("u:right".utf8).base64EncodedString()
                ? .text("secret") : .text("no", status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
        }
    }

    @Test("50: cookies of a login are sent by the next request")
    func cookies() async throws {
        let origin = Origin(.loopback) { asked in
            asked.path == "/login"
                ? .text("", fields: ["Set-Cookie": "id=42; Path=/"]) : .text(asked.field("Cookie") ?? "none")
        }
        let session = origin.session()
        #expect(String(decoding: try await session.data(from: origin.url).0, as: UTF8.self) == "none")
        _ = try await session.data(from: origin.url("/login"))
        #expect(String(decoding: try await session.data(from: origin.url).0, as: UTF8.self) == "id=42")
        #expect(session.configuration.httpCookieStorage?.cookies(for: origin.url)?.map(\.name) == ["id"])
    }

    @Test("51: a delegate answers challenges, the second time with the right password")
    func login() async throws {
        let origin = locked()
        let delegate = LoginDelegate()
        let (data, _) = try await origin.session(delegate: delegate).data(from: origin.url)
        #expect(String(decoding: data, as: UTF8.self) == "secret")
        #expect(delegate.failures.current == [0, 1])
    }

    @Test("52: an async method answers a challenge; a stored credential needs none; without both 401 is the result")
    func credentials() async throws {
        let origin = locked()
        let (data, _) = try await origin.session().data(from: origin.url, delegate: AsyncLoginDelegate())
        #expect(String(decoding: data, as: UTF8.self) == "secret")
        let configuration = origin.configuration
        let space = URLProtectionSpace(
            host: "127.0.0.1", port: origin.url.port ?? 0, protocol: "http", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        configuration.urlCredentialStorage?.setDefaultCredential(
            URLCredential(user: "u", password: "right", persistence: .forSession), for: space)
        let (stored, _) = try await URLSession(configuration: configuration).data(from: origin.url)
        #expect(String(decoding: stored, as: UTF8.self) == "secret")
        let (refused, response) = try await origin.session().data(from: origin.url)
        #expect(String(decoding: refused, as: UTF8.self) == "no")
        #expect((response as? HTTPURLResponse)?.statusCode == 401)
    }

    @Test("53: the progress of an upload reaches its length")
    func upload() async throws {
        let origin = Origin(.loopback) { asked in .text("\(asked.body.count)") }
        let delegate = ProgressDelegate()
        var request = URLRequest(url: origin.url)
        request.httpMethod = "PUT"
        let (data, _) = try await origin.session().upload(
            for: request, from: Data(repeating: 1, count: 1_000_000), delegate: delegate)
        #expect(String(decoding: data, as: UTF8.self) == "1000000")
        let totals = delegate.totals.current
        #expect(totals == totals.sorted())
        #expect(totals.last == 1_000_000)
    }

    @Test("54: functions of Foundation load from a server")
    func contents() async throws {
        let origin = Origin(.loopback) { asked in
            asked.path == "/missing"
                ? .text("", status: 404) : .text("Grüße", fields: ["Content-Type": "text/plain; charset=utf-8"])
        }
        let url = origin.url
        #expect(try Data(contentsOf: url) == Data("Grüße".utf8))
        #expect(try NSData(contentsOf: url, options: []) as Data == Data("Grüße".utf8))
        #expect(try String(contentsOf: url, encoding: .utf8) == "Grüße")
        #expect(try NSString(contentsOf: url, encoding: String.Encoding.utf8.rawValue) as String == "Grüße")
        #expect(throws: CocoaError.self) { try Data(contentsOf: origin.url("/missing")) }
        withExtendedLifetime(origin) {}
    }
}
