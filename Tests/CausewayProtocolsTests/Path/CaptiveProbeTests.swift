import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Interpretation of a web server's answer by the captive network probe")
struct CaptiveProbeTests {
    private func verdict(
        _ answer: String, expecting expectation: CaptiveProbe.Expectation = .status(204), piece: Int = 1_000
    ) throws -> CaptiveProbe.Verdict {
        var probe = try CaptiveProbe(authority: "example.com", target: "/204", expecting: expectation)
        var rest = Array(answer.replacing("\n", with: "\r\n").utf8)[...]
        while !rest.isEmpty {
            if let verdict = probe.take(Array(rest.prefix(piece))) { return verdict }
            rest = rest.dropFirst(piece)
        }
        return probe.end()
    }

    @Test("The request is understood by any web server")
    func request() throws {
        let probe = try CaptiveProbe(authority: "example.com:8080", target: "/a?b", expecting: .status(204))
        let text = String(decoding: probe.request, as: UTF8.self)
        #expect(text.hasPrefix("GET /a?b HTTP/1.0\r\nHost: example.com:8080\r\n") && text.hasSuffix("\r\n\r\n"))
    }

    @Test(
        "A target with a line break or a space makes no request",
        arguments: ["", "/a b", "/a\r\nX: y", "a", "/ä"])
    func unwritable(target: String) {
        #expect(throws: UpgradeError.unwritable("path")) {
            try CaptiveProbe(authority: "example.com", target: target, expecting: .status(204))
        }
    }

    @Test("Statuses", arguments: [1, 7, 1_000])
    func statuses(piece: Int) throws {
        #expect(try verdict("HTTP/1.1 204 No Content\n\n", piece: piece) == .open)
        #expect(try verdict("HTTP/1.0 200 OK\n\nLog in", piece: piece) == .captive(portal: nil))
        #expect(
            try verdict("HTTP/1.1 302 Found\nLocation: http://192.0.2.1/login\n\n", piece: piece)
                == .captive(portal: "http://192.0.2.1/login"))
        #expect(try verdict("HTTP/1.1 511 Network Authentication Required\n\n", piece: piece) == .captive(portal: nil))
        #expect(try verdict("HTTP/1.1 503 Busy\n\n", piece: piece) == .unclear("status 503"))
        #expect(try verdict("HTTP/1.1 404 Not Found\n\n", piece: piece) == .unclear("status 404"))
    }

    @Test("Pages", arguments: [1, 7, 1_000])
    func pages(piece: Int) throws {
        let expected = CaptiveProbe.Expectation.text("Success")
        #expect(try verdict("HTTP/1.1 200 OK\n\n<b>Success</b>", expecting: expected, piece: piece) == .open)
        #expect(
            try verdict("HTTP/1.1 200 OK\n\n<b>Log in</b>", expecting: expected, piece: piece) == .captive(portal: nil))
        // The probe gives its verdict as soon as further bytes cannot change it.
        #expect(
            try verdict("HTTP/1.1 200 OK\nContent-Length: 3\n\nabcdef", expecting: expected, piece: piece)
                == .captive(portal: nil))
        #expect(try verdict("HTTP/1.1 204 No Content\n\n", expecting: expected, piece: piece) == .captive(portal: nil))
    }

    @Test("A length with a sign is not a length")
    func signedLength() throws {
        for (length, verdict) in [("3", CaptiveProbe.Verdict.captive(portal: nil)), ("+3", nil), ("-0", nil)] {
            var probe = try CaptiveProbe(authority: "example.com", target: "/", expecting: .text("Success"))
            #expect(probe.take(Array("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nabc".utf8)) == verdict)
        }
    }

    @Test("An endless page is read up to a limit")
    func bound() throws {
        var probe = try CaptiveProbe(authority: "example.com", target: "/", expecting: .text("Success"))
        #expect(probe.take(Array("HTTP/1.1 200 OK\r\n\r\n".utf8)) == nil)
        var taken = 0
        while probe.take([UInt8](repeating: 0x20, count: 1_000)) == nil { taken += 1_000 }
        #expect(taken == 65_000)
    }

    @Test("An invalid answer is inconclusive")
    func strange() throws {
        #expect(try verdict("SSH-2.0-OpenSSH\n\n") == .unclear("the response is not HTTP"))
        #expect(try verdict("") == .unclear("the connection closed before a response"))
        #expect(try verdict("HTTP/1.1 2") == .unclear("the connection closed before a response"))
        let endless = "HTTP/1.1 200 OK\n" + String(repeating: "A: b\n", count: 20_000)
        #expect(try verdict(endless) == .unclear("the response is not HTTP"))
    }
}
