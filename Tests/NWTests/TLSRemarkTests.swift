import Testing

@testable import nw

/// Tests the remarks of `nw tls` about certificate dates.
@Suite("Remarks on certificates")
struct TLSRemarkTests {
    static let now: Int64 = 1_800_000_000

    @Test(
        "Remarks on dates, also if a server sends malformed ones",
        arguments: [
            (0, now + 15 * 86_400, []), (0, now + 13 * 86_400, ["expires in 13 days"]),
            (0, now, ["expires in 0 days"]), (0, now - 1, ["has expired"]), (now + 1, .max, ["is not valid yet"]),
            (0, .min, ["has an invalid date"]), (.min, now + 15 * 86_400, ["has an invalid date"]),
            (.min, .min, ["has an invalid date"]),
        ] as [(Int64, Int64, [String])])
    func dates(_ notBefore: Int64, _ notAfter: Int64, _ expected: [String]) {
        #expect(TLSDiagnosis.remarks(notBefore: notBefore, notAfter: notAfter, at: Self.now) == expected)
    }
}
