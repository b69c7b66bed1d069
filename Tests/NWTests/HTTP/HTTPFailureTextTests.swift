import Causeway
import CausewayHTTP
import CausewayProtocols
import CausewayTypes
import CausewayWire
import Testing

@testable import nw

/// Tests the error texts and exit codes for failures.
@Suite("Failures in words")
struct HTTPFailureTextTests {
    static let rows: [(HTTPFailure, HTTPCommandFailure.Code, String)] = [
        (
            .violation(HTTP2Violation(.protocolError, "PING on a stream")), .invalidResponse,
            "h:80: the server violated HTTP/2: PING on a stream (PROTOCOL_ERROR)"
        ),
        (.reset(.cancel), .invalidResponse, "h:80: the server ended the request with the HTTP/2 error CANCEL"),
        (.reset(.http11Required), .invalidResponse, "h:80: the server requires HTTP/1.1"),
        (
            .invalidResponse(.syntax(.invalid("field name", at: 18))), .invalidResponse,
            "the response of h:80 is invalid: invalid field name at byte 18"
        ),
        (
            .invalidResponse(.framing("Content-Length")), .invalidResponse,
            "the response of h:80 is invalid: ambiguous or invalid length (Content-Length)"
        ),
        (.invalidRequest(.misuse("body too long")), .other, "the request is invalid: body too long"),
        (
            .cannotConnect(.dns(DNSServiceErrorType(kDNSServiceErr_NoSuchRecord))), .unresolved,
            "connection to h:80 failed: name not found"
        ),
        (
            .cannotConnect(.dns(DNSServiceErrorType(kDNSServiceErr_Timeout))), .unresolved,
            "connection to h:80 failed: no answer in time"
        ),
        (.tooLarge(limit: 5), .tooLarge, "h:80: the response is longer than 5 bytes"),
        (.closed, .other, "h:80: the connection was closed"),
    ]

    @Test("A failure is a sentence with an exit code of curl", arguments: rows.indices)
    func text(_ row: Int) {
        let (failure, code, text) = Self.rows[row]
        let shown = HTTPCommandFailure(failure, to: HTTPOrigin(isSecure: false, host: "h"), reason: nil)
        #expect(shown.code == code && shown.message.text == text)
    }

    @Test("A name that does not exist needs no other attempt; other failures of name resolution may be temporary")
    func lasting() {
        for (code, isLasting) in [
            (kDNSServiceErr_NoSuchRecord, true), (kDNSServiceErr_NoSuchName, true), (kDNSServiceErr_BadParam, true),
            (kDNSServiceErr_Timeout, false), (kDNSServiceErr_Refused, false), (kDNSServiceErr_Unknown, false),
        ] {
            let failure = HTTPFailure.cannotConnect(.dns(DNSServiceErrorType(code)))
            let shown = HTTPCommandFailure(failure, to: HTTPOrigin(isSecure: false, host: "h"), reason: nil)
            #expect(shown.isLasting == isLasting)
        }
    }

    @Test("Every error of name resolution has a text without the name of its constant")
    func names() {
        for code in -65_572 ... -65_537 where code != -65_546 {
            let text = describe(NWError.dns(DNSServiceErrorType(code))).text
            #expect(text.contains(" ") || text == "not found", "\(code): \(text)")
        }
    }
}
