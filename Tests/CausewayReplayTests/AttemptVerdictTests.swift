@testable import CausewayHTTPProtocols
import Testing

@Suite("Offline queue: the consequence of an attempt")
struct AttemptVerdictTests {
    @Test(
        "Each end of an attempt has one consequence",
        arguments: [
            (.noWay, .returnToLane),
            (.noWayAfterRefusal, .retry(counts: true, atLeast: nil)),
            (.notSent, .retry(counts: false, atLeast: nil)),
            (.invalid("missing"), .finish(.invalid("missing"))),
            (.lost, .finish(.unknown)),
            (.response(status: 200), .finish(.succeeded(status: 200))),
            (.response(status: 412), .finish(.conflicted(status: 412))),
            (.response(status: 401), .stop(.refused(status: 401))),
            (.response(status: 404), .finish(.rejected(status: 404))),
            (.response(status: 500), .finish(.rejected(status: 500))),
            (.response(status: 502), .finish(.unknown)),
            (.response(status: 503, retryAfter: .seconds(9)), .retry(counts: true, atLeast: .seconds(9))),
        ] as [(AttemptEnd, AttemptVerdict)])
    func consequence(_ end: AttemptEnd, _ verdict: AttemptVerdict) {
        #expect(OfflinePolicy().verdict(on: end, of: operation(1)) == verdict)
    }

    @Test("An idempotent operation is sent again if the server may not have processed it")
    func idempotent() {
        let safe = operation(1, isIdempotent: true)
        for end in [AttemptEnd.lost, .interrupted, .response(status: 500), .response(status: 504)] {
            #expect(OfflinePolicy().verdict(on: end, of: safe) == .retry(counts: true, atLeast: nil))
        }
    }
}
