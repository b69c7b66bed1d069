internal import CausewayTypes
package import CausewayWire

/// Downloads one document from a web server: one request, one response, limited size.
///
/// This type does no I/O: the owner sends ``request`` and passes on received bytes.
package struct DocumentFetch: Sendable {
    package struct Document: Equatable, Sendable {
        package var content: [UInt8]
        /// Seconds for which the document may be cached (RFC 9111 §5.2.2); `nil` if the response does not specify it.
        package var freshness: Int?
    }

    package enum Outcome: Equatable, Sendable {
        case document(Document)
        /// A redirect, with the target URL as the server wrote it.
        case elsewhere(String)
        case refused(status: Int)
        case tooLong
        /// The response cannot be used: it is not HTTP, it ended early, or it has a content coding that the request did
        /// not ask for.
        case malformed
    }

    package let request: [UInt8]
    private let limit: Int
    private var client: HTTP1Client
    private var document = Document(content: [])
    private var isOver = false

    /// Creates the fetch of one document.
    ///
    /// - Parameters:
    ///   - authority: The URL's host and port: `example.com:8080`.
    ///   - target: The path with the query.
    ///   - limit: The maximum document size in bytes.
    /// - Throws: ``UpgradeError/unwritable(_:)`` if the authority or the target is invalid. Both must not be empty, and
    ///   may contain only visible ASCII characters. The target must begin with a slash.
    package init(authority: String, target: String, limit: Int) throws(UpgradeError) {
        self.limit = limit
        let head = try PlainRequest.head(
            authority: authority, target: target, version: .http11, ("Accept-Encoding", "identity"))
        var configuration = HTTP1Client.Configuration()
        configuration.headLimits = .upgrade
        client = HTTP1Client(configuration: configuration)
        do {
            try client.send(head, at: .zero)
        } catch {
            throw .unwritable("request")
        }
        request = client.takeOutput().bytes
    }

    /// Processes received bytes.
    ///
    /// - Returns: The outcome, as soon as there is one. Ignore the results of later calls.
    package mutating func take(_ bytes: [UInt8]) -> Outcome? {
        client.received(bytes[...])
        return next()
    }

    /// Reports that the server closed the connection. Returns the outcome, if there is one.
    package mutating func end() -> Outcome? {
        client.inputEnded()
        return next()
    }

    private mutating func next() -> Outcome? {
        while !isOver, let event = client.nextEvent() {
            guard let outcome = handle(event) else { continue }
            isOver = true
            return outcome
        }
        return nil
    }

    private mutating func handle(_ event: HTTP1Client.Event) -> Outcome? {
        switch event {
        case .informational: return nil
        case .responded(let head, let length): return begin(head, length)
        case .content(let piece):
            guard document.content.count + piece.count <= limit else { return .tooLong }
            document.content += piece
            return nil
        case .finished: return .document(document)
        case .upgraded, .ended: return .malformed
        }
    }

    /// Content codings that the response must not have, because the request permits none (RFC 9110 §8.4.1, RFC 7932,
    /// RFC 8878).
    private static let codings = ["gzip", "x-gzip", "compress", "x-compress", "deflate", "br", "zstd"]

    private mutating func begin(_ head: HTTPResponseHead, _ length: HTTP1BodyLength) -> Outcome? {
        switch head.status {
        case 200: break
        case 301, 302, 303, 307, 308:
            return head.fields.onlyValue(of: "Location").flatMap { $0.isEmpty ? nil : .elsewhere($0) } ?? .malformed
        default: return .refused(status: head.status)
        }
        document.freshness = Self.freshness(head.fields)
        let codings = head.fields.elements(of: "Content-Encoding")
        // Accept names that are not codings, such as `utf-8`, because they do not change the content.
        guard !codings.contains(where: { name in Self.codings.contains { HTTPCharacters.areEqual(name, $0) } }) else {
            return .malformed
        }
        if case .length(let count) = length, count > limit { return .tooLong }
        return nil
    }

    private static func freshness(_ fields: FieldSection) -> Int? {
        var freshness: Int?
        for element in fields.elements(of: "Cache-Control") {
            let word = element.lowercased()
            if word == "no-store" || word == "no-cache" { return 0 }
            if word.utf8.starts(with: "max-age=".utf8), let seconds = Int(digits: word.utf8.dropFirst(8)) {
                freshness = seconds
            }
        }
        return freshness
    }
}
