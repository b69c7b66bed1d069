/// The head of an answer to a plain request (RFC 9112 §4), of servers of either version.
package struct AnswerHead: Equatable, Sendable {
    package var status: Int
    package var fields: HeaderFields

    /// - Parameter head: Up to and with the empty line, as ``UpgradeHeadScanner`` collects it.
    package init(parsing head: [UInt8]) throws(UpgradeError) {
        let lines = try HeadLines(head)
        status = try lines.status(of: ["HTTP/1.1", "HTTP/1.0"])
        fields = lines.fields
    }
}
