import CausewayWire
import Testing

@testable import CausewayHTTPProtocols

extension CachePolicyTests {
    @Test(
        "The response to a request that uses the cache",
        arguments: [
            ("GET", 200, "", "ETag: \"a\"", nil, .deliver), ("GET", 304, "ETag: W/\"a\"", "ETag: \"a\"", nil, .confirm),
            ("GET", 304, "", "ETag: \"a\"", nil, .confirm), ("GET", 304, "ETag: \"b\"", "ETag: \"a\"", nil, .sendAgain),
            // The program set the condition itself, so it also gets the 304 response.
            ("GET", 304, "ETag: \"a\"", nil, nil, .deliver), ("GET", 304, "", nil, "X: 1", .deliver),
            ("GET", 503, "", "Cache-Control: max-age=0, stale-if-error=9", nil, .deliverStale),
            ("GET", 503, "", nil, "Cache-Control: max-age=0, stale-if-error=9", .deliverStale),
            ("GET", 503, "", "ETag: \"a\"", "Cache-Control: max-age=0, stale-if-error=9", .deliver),
            ("GET", 501, "", "Cache-Control: max-age=0, stale-if-error=9", nil, .deliver),
            ("HEAD", 200, "", nil, nil, .deliverAndCompare), ("HEAD", 404, "", nil, nil, .deliver),
            ("HEAD", 304, "", "ETag: \"a\"", nil, .confirm),
        ] as [(String, Int, String, String?, String?, CachePolicy.Judgement)])
    func judgements(
        _ row: (
            method: String, status: Int, fields: String, validated: String?, fallback: String?,
            expected: CachePolicy.Judgement
        )
    ) {
        let judgement = CachePolicy.judge(
            method: row.method, request: fields(""), status: row.status, fields: fields(row.fields),
            validated: row.validated.map { stored($0) }, fallback: row.fallback.map { stored($0) }, at: Self.start)
        #expect(judgement == row.expected)
    }
}
