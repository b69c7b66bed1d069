import Causeway
import CausewayHTTPProtocols
import CausewayProtocols
import CausewaySystem
import CausewayWire
import Dispatch
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Held redirects")
struct LoadRedirectTests {
    private let network = HTTPNetwork(Unchecked(.inMemory), queue: DispatchQueue(label: "redirects"))

    private func redirect(
        _ status: Int, from url: String = "https://example.com/a/b", to location: String?, method: String = "GET"
    ) -> LoadRedirect {
        var request = URLRequest(url: URL(string: url).unsafelyUnwrapped)
        request.httpMethod = method
        if method == "POST" { request.httpBody = Data("body".utf8) }
        var fields = FieldSection()
        if let location { fields.append("Location", location) }
        let response = HTTPURLResponse(
            url: request.url, statusCode: status, version: "HTTP/1.1", fields: fields, isDecoded: false)
        return LoadRedirect(response, to: request, over: network)
    }

    private func next(_ redirect: LoadRedirect) -> (URLRequest, LoadFailure.Cause?)? {
        guard case .propose(let request, let refusal) = redirect else { return nil }
        return (request, refusal?.cause)
    }

    @Test("The URL is resolved; 302 and 303 after POST lead to GET without content, 307 keeps both (RFC 9110 §15.4)")
    func requests() throws {
        let relative = try #require(next(redirect(301, to: "../c?d")))
        #expect(relative.0.url?.absoluteString == "https://example.com/c?d" && relative.1 == nil)
        for status in [302, 303] {
            let (request, _) = try #require(next(redirect(status, to: "/c", method: "POST")))
            #expect(request.httpMethod == "GET" && request.httpBody == nil)
        }
        let (kept, _) = try #require(next(redirect(307, to: "/c", method: "POST")))
        #expect(kept.httpMethod == "POST" && kept.httpBody == Data("body".utf8))
    }

    @Test("A response without a target is delivered; downgrades and unknown schemes are refused")
    func refusals() {
        guard case .deliver = redirect(302, to: nil) else {
            Issue.record("a redirect without Location is delivered")
            return
        }
        #expect(next(redirect(302, to: "http://example.com/c"))?.1 == .downgrade)
        let foreign = redirect(302, to: "ftp://example.com/c")
        if case .fail(let failure) = foreign {
            #expect(failure.cause == .unsupportedURL)
        } else {
            #expect(next(foreign)?.1 == .unsupportedURL)
        }
    }

    @Test("A redirect to plain HTTP is no downgrade if the host demands secure connections (RFC 6797 §8.3)")
    func strictTransport() throws {
        var fields = FieldSection()
        fields.append("Strict-Transport-Security", "max-age=1000")
        let policy = try #require(StrictTransportPolicy(fields))
        network.strictTransport.note(policy, of: HTTPOrigin(isSecure: true, host: "example.com"))
        let (request, refusal) = try #require(next(redirect(302, to: "http://example.com/c")))
        #expect(request.url?.absoluteString == "https://example.com/c" && refusal == nil)
    }
}
