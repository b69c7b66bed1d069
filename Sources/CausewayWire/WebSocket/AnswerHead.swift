/// The head of a response to a plain HTTP request (RFC 9112 §4), from an HTTP/1.0 or HTTP/1.1 server.
package struct AnswerHead: Equatable, Sendable {
    package var status: Int
    package var fields: HeaderFields

    /// Parses a head.
    ///
    /// - Parameter head: The bytes up to and including the empty line, as ``UpgradeHeadScanner`` collects them.
    package init(parsing head: [UInt8]) throws(UpgradeError) {
        let lines = try HeadLines(head)
        status = try lines.status(of: ["HTTP/1.1", "HTTP/1.0"])
        fields = lines.fields
    }
}
