import CausewayWire
import Testing

@testable import CausewayHTTPProtocols

@Suite("Responses that another request may follow")
struct FollowUpTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var status: Int
        var field: String?
        var isProxyRefusal = false
        var expected: FollowUp?
        var testDescription: String { "\(status) \(field ?? "") \(isProxyRefusal ? "from a proxy" : "")" }
    }

    static let rows =
        [301, 302, 303, 307, 308].flatMap { status in
            [
                Row(status: status, field: "Location", expected: .redirect),
                Row(status: status, field: nil, expected: nil),
            ]
        } + [408, 421, 425].map { Row(status: $0, field: nil, expected: .retry) } + [
            Row(status: 200, field: "Location", expected: nil), Row(status: 300, field: "Location", expected: nil),
            Row(status: 304, field: "Location", expected: nil), Row(status: 305, field: "Location", expected: nil),
            Row(status: 401, field: "WWW-Authenticate", expected: .challenge),
            Row(status: 401, field: nil, expected: nil),
            Row(status: 401, field: nil, isProxyRefusal: true, expected: .proxyChallenge),
            Row(status: 407, field: "Proxy-Authenticate", isProxyRefusal: true, expected: .proxyChallenge),
            Row(status: 407, field: "Proxy-Authenticate", expected: nil), Row(status: 503, field: nil, expected: nil),
        ]

    @Test("A status and its field tell whether another request may follow", arguments: rows)
    func finds(_ row: Row) {
        var fields = FieldSection()
        if let name = row.field { fields.append(name, "x") }
        let found = FollowUp(status: row.status, fields: fields, isProxyRefusal: row.isProxyRefusal)
        #expect(found == row.expected)
    }
}
