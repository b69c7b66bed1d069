import Testing

@testable import CausewayHTTPProtocols

@Suite("Retries (url-loading.md 24)")
struct RetryRulesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var occasion: RetryOccasion
        var context: RetryContext
        var decision: RetryDecision

        init(_ name: String, _ occasion: RetryOccasion, _ context: RetryContext, _ decision: RetryDecision) {
            testDescription = name
            self.occasion = occasion
            self.context = context
            self.decision = decision
        }
    }

    private static func again(_ route: RetryDecision.Route) -> RetryDecision { .retry(route, needsNewStream: false) }

    static let rows: [Row] = [
        Row("stale, GET", .closedBeforeAnswer, RetryContext(method: "GET"), again(.newConnection)),
        Row(
            "stale, PUT", .closedBeforeAnswer, RetryContext(method: "PUT", content: .repeatable), again(.newConnection)),
        Row(
            "stale, POST that may have arrived", .closedBeforeAnswer,
            RetryContext(method: "POST", content: .repeatable), .end),
        Row("stale, PATCH that may have arrived", .closedBeforeAnswer, RetryContext(method: "PATCH"), .end),
        Row(
            "stale, POST of which nothing left", .closedBeforeAnswer, RetryContext(method: "POST", wasSent: false),
            again(.newConnection)),
        Row("stale twice", .closedBeforeAnswer, RetryContext(method: "GET", counts: RetryCounts(repeated: 1)), .end),
        Row(
            "stale after refusals", .closedBeforeAnswer, RetryContext(method: "GET", counts: RetryCounts(refused: 3)),
            again(.newConnection)),
        Row(
            "never sent, POST on a new connection", .notStarted,
            RetryContext(
                method: "POST", connection: .new, wasSent: false, counts: RetryCounts(repeated: 1, refused: 5)),
            again(.any)),
        Row(
            "never sent, too often", .notStarted,
            RetryContext(method: "GET", wasSent: false, counts: RetryCounts(notStarted: 20)), .end),
        Row("a new connection was closed", .closedBeforeAnswer, RetryContext(method: "GET", connection: .new), .end),
        Row("method names are case-sensitive", .closedBeforeAnswer, RetryContext(method: "get"), .end),
        Row("closed within the answer", .closedInAnswer, RetryContext(method: "GET"), .end),
        Row("GOAWAY, POST", .goneAway, RetryContext(method: "POST", connection: .new), again(.any)),
        Row(
            "GOAWAY behind many requests", .goneAway,
            RetryContext(method: "POST", counts: RetryCounts(refused: 5, goneAway: 99)), again(.any)),
        Row("GOAWAY too often", .goneAway, RetryContext(method: "GET", counts: RetryCounts(goneAway: 100)), .end),
        Row(
            "REFUSED_STREAM, POST", .refusedStream,
            RetryContext(method: "POST", counts: RetryCounts(repeated: 1, refused: 4)), again(.any)),
        Row(
            "REFUSED_STREAM too often", .refusedStream, RetryContext(method: "GET", counts: RetryCounts(refused: 5)),
            .end),
        Row("HTTP_1_1_REQUIRED", .requiresHTTP1, RetryContext(method: "POST"), again(.http1)),
        Row("408 on a reused connection", .answered(status: 408), RetryContext(method: "GET"), again(.newConnection)),
        Row("408, POST", .answered(status: 408), RetryContext(method: "POST"), .end),
        Row("408 on a new connection", .answered(status: 408), RetryContext(method: "GET", connection: .new), .end),
        Row("421, POST", .answered(status: 421), RetryContext(method: "POST"), again(.newConnection)),
        Row("421 twice", .answered(status: 421), RetryContext(method: "GET", counts: RetryCounts(repeated: 1)), .end),
        Row("425, GET", .answered(status: 425), RetryContext(method: "GET"), again(.withoutEarlyData)),
        Row("425, PUT", .answered(status: 425), RetryContext(method: "PUT"), .end),
        Row("503", .answered(status: 503), RetryContext(method: "GET"), .end),
        Row(
            "a stream that was read is asked for again", .refusedStream,
            RetryContext(method: "POST", content: .stream(isRead: true)), .retry(.any, needsNewStream: true)),
        Row(
            "an unread stream is kept", .goneAway, RetryContext(method: "POST", content: .stream(isRead: false)),
            again(.any)),
    ]

    // RFC 9110 §7.4, §9.1, §9.2.2, §15.5.9, §15.5.20; RFC 9112 §9.3.1.
    @Test("Rules", arguments: rows)
    func rules(row: Row) { #expect(RetryRules.decide(row.occasion, row.context) == row.decision) }

    @Test("Each reason has its own count")
    func counts() {
        var counts = RetryCounts()
        for occasion: RetryOccasion in [
            .notStarted, .goneAway, .refusedStream, .requiresHTTP1, .closedBeforeAnswer, .answered(status: 421),
        ] { counts.count(occasion) }
        #expect(counts == RetryCounts(repeated: 2, refused: 2, notStarted: 1, goneAway: 1))
    }

    @Test("Idempotent methods (RFC 9110 §9.2.2)")
    func idempotent() {
        for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"] { #expect(RetryRules.isIdempotent(method)) }
        for method in ["POST", "PATCH", "CONNECT", "", "GETS"] { #expect(!RetryRules.isIdempotent(method)) }
    }
}
