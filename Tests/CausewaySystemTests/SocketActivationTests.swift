import CausewaySystem
import Testing

@Suite("Socket activation")
struct SocketActivationTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let process: String?
        let count: String?
        let names: String?
        let expected: [CInt]
    }

    static let rows: [Row] = [
        Row(testDescription: "first", process: "42", count: "2", names: "web:admin", expected: [3]),
        Row(testDescription: "another process", process: "43", count: "2", names: "web:admin", expected: []),
        Row(testDescription: "no environment", process: nil, count: nil, names: nil, expected: []),
        Row(testDescription: "more names than sockets", process: "42", count: "0", names: "web", expected: []),
        Row(testDescription: "unknown name", process: "42", count: "1", names: "admin", expected: []),
        Row(testDescription: "second", process: "42", count: "2", names: "admin:web", expected: [4]),
        Row(testDescription: "nameless before it", process: "42", count: "2", names: ":web", expected: [4]),
        Row(testDescription: "count beyond reason", process: "42", count: "99999999", names: "web", expected: []),
        Row(testDescription: "a sign", process: "+42", count: "2", names: "web", expected: []),
        Row(testDescription: "a sign of the count", process: "42", count: "+2", names: "web", expected: []),
        Row(testDescription: "several", process: "42", count: "4", names: "web:admin:web:web", expected: [3, 5, 6]),
        Row(testDescription: "some without a socket", process: "42", count: "1", names: "web:web", expected: [3]),
        Row(testDescription: "not numbers", process: "42", count: "two", names: "web", expected: []),
    ]

    @Test(arguments: rows)
    func findsTheNamedSockets(_ row: Row) {
        let environment = SocketActivation.Environment(process: row.process, count: row.count, names: row.names)
        #expect(SocketActivation.numbers(named: "web", in: environment, process: 42) == row.expected)
    }
}
