import Testing

@testable import CausewayHTTPProtocols

@Suite("Content codings (RFC 9110 §8.4, §12.5.3)")
struct ContentCodingTests {
    @Test("Only codings with a decoder are offered, and the newer ones over TLS only")
    func offer() {
        #expect(
            ContentCoding.acceptField(available: [.zstandard, .gzip, .brotli, .deflate], isSecure: true)
                == "gzip, deflate, br, zstd")
        #expect(
            ContentCoding.acceptField(available: [.zstandard, .gzip, .brotli, .deflate], isSecure: false)
                == "gzip, deflate")
        #expect(ContentCoding.acceptField(available: [.brotli], isSecure: false) == nil)
        #expect(ContentCoding.acceptField(available: [], isSecure: true) == nil)
    }

    // RFC 9110 §8.4.1.
    @Test("Codings are undone in reverse order")
    func decoding() {
        let all = Set(ContentCoding.allCases)
        #expect(ContentDecoding([], available: all) == .identity)
        #expect(ContentDecoding(["identity", " "], available: all) == .identity)
        #expect(ContentDecoding(["gzip"], available: all) == .decode([.gzip]))
        #expect(ContentDecoding([" X-GZIP "], available: all) == .decode([.gzip]))
        #expect(ContentDecoding(["gzip, br", "zstd"], available: all) == .decode([.zstandard, .brotli, .gzip]))
        for unknown in ["none", "UTF-8", "aws-chunked", "binary", "gzip, foo", "foo, gzip"] {
            #expect(ContentDecoding([unknown], available: all) == .identity)
        }
        #expect(ContentDecoding(["gzip,br", "foo"], available: [.gzip]) == .identity)
        #expect(ContentDecoding(["br"], available: [.gzip]) == .unsupported("br"))
        #expect(ContentDecoding(["gzip,gzip,gzip,gzip,gzip"], available: all) == .unsupported("gzip"))
    }

    @Test("The ratio counts above the threshold only")
    func ratio() throws {
        var budget = DecodingBudget(maximumRatio: 10, ratioThreshold: 1_000)
        try budget.advanced(encoded: 1, decoded: 1_000)
        #expect(throws: DecodingBudget.Excess.ratio(limit: 10)) { try budget.advanced(encoded: 99, decoded: 1) }
        var fair = DecodingBudget(maximumRatio: 10, ratioThreshold: 1_000)
        for _ in 0..<1_000 { try fair.advanced(encoded: 10, decoded: 100) }
        #expect(throws: DecodingBudget.Excess.ratio(limit: 10)) { try fair.advanced(encoded: 0, decoded: 1) }
    }

    @Test("The size limit, and counts near the maximum")
    func size() throws {
        var budget = DecodingBudget(maximumSize: 100)
        try budget.advanced(encoded: 1, decoded: 100)
        #expect(throws: DecodingBudget.Excess.size(limit: 100)) { try budget.advanced(encoded: 100, decoded: 1) }
        var large = DecodingBudget()
        try large.advanced(encoded: .max, decoded: .max)
        // Simulate a decompression bomb: 1 MiB of encoded content decodes to 1 GiB.
        var bomb = DecodingBudget()
        #expect(throws: DecodingBudget.Excess.ratio(limit: 200)) {
            for _ in 0..<1_024 { try bomb.advanced(encoded: 1 << 10, decoded: 1 << 20) }
        }
    }
}
