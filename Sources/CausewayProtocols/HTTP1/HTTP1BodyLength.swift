internal import CausewayTypes
internal import CausewayWire

/// How a message body's length is determined (RFC 9112 §6).
package enum HTTP1BodyLength: Equatable, Sendable {
    /// The message has no body.
    case none
    /// `Content-Length` states the number of bytes.
    case length(Int)
    /// The body has the chunked transfer coding.
    case chunked
    /// The end of the connection delimits the body. This is possible only in responses.
    case untilEnd
}

extension HTTP1BodyLength {
    /// Determines a request body's length (RFC 9112 §6.3).
    ///
    /// - Throws: ``HTTP1Failure/framing(_:)`` or ``HTTP1Failure/unsupportedCoding``. The server must then not interpret
    ///   the bytes after the request head.
    static func ofRequest(_ head: HTTPRequestHead) throws(HTTP1Failure) -> HTTP1BodyLength {
        let length = try contentLength(head.fields)
        guard head.fields.contains("Transfer-Encoding") else {
            guard let length, length > 0 else { return .none }
            return .length(length)
        }
        guard length == nil else { throw .framing("Content-Length with Transfer-Encoding") }
        guard head.version >= .http11 else { throw .framing("Transfer-Encoding in HTTP/1.0") }
        try checkCodings(head.fields, allowsIdentity: false)
        return .chunked
    }

    /// Determines a response body's length (RFC 9112 §6.3). Do not call this for responses that never have a body: see
    /// ``hasBody(status:toHead:)``.
    static func ofResponse(_ head: HTTPResponseHead) throws(HTTP1Failure) -> HTTP1BodyLength {
        let length = try contentLength(head.fields)
        guard hasCoding(head.fields) else {
            if let length { return .length(length) }
            // A server must not send content with status 205 (RFC 9110 §15.3.6). So bytes after the head are not
            // content.
            return head.status == 205 ? .none : .untilEnd
        }
        guard length == nil else { throw .framing("Content-Length with Transfer-Encoding") }
        try checkCodings(head.fields, allowsIdentity: true)
        return .chunked
    }

    /// Returns whether a response can have a body (RFC 9110 §6.4.1, §15.3.5).
    ///
    /// - Parameter toHead: Whether the request method is HEAD.
    static func hasBody(status: Int, toHead: Bool) -> Bool {
        !toHead && status >= 200 && status != 204 && status != 304
    }

    /// Returns the `Content-Length` value; `nil` if the field is missing (RFC 9112 §6.2).
    ///
    /// Several equal values are treated as one. Different values are an error (RFC 9110 §8.6). Values are compared as text, because
    /// implementations parse numbers differently.
    static func contentLength(_ fields: FieldSection) throws(HTTP1Failure) -> Int? {
        guard let first = fields.index(of: "Content-Length") else { return nil }
        let value = fields[first].value
        if fields.index(of: "Content-Length", from: first + 1) == nil, let length = Int(digits: value) { return length }
        var common: ArraySlice<UInt8>?
        var isValid = true
        fields.forEachElement(of: "Content-Length") { element in
            if let common { isValid = isValid && common == element } else { common = element }
            return isValid
        }
        guard isValid, let common, let length = Int(digits: common) else { throw .framing("Content-Length") }
        return length
    }

    /// Whether `Transfer-Encoding` names a coding other than `identity`. In RFC 2616 §3.6, `identity` stands for no
    /// coding, and some servers still send it.
    private static func hasCoding(_ fields: FieldSection) -> Bool {
        guard fields.contains("Transfer-Encoding") else { return false }
        var (count, identityCount) = (0, 0)
        fields.forEachElement(of: "Transfer-Encoding") { coding in
            count += 1
            if HTTPCharacters.areEqual(coding, "identity") { identityCount += 1 }
            return true
        }
        return count == 0 || identityCount < count
    }

    /// Checks that `Transfer-Encoding` is exactly `chunked`. Chunked must be the final coding, and must not be applied
    /// twice (RFC 9112 §6.1).
    ///
    /// - Parameter allowsIdentity: Whether `identity` may come before `chunked`.
    private static func checkCodings(_ fields: FieldSection, allowsIdentity: Bool) throws(HTTP1Failure) {
        var count = 0
        var chunkedCount = 0
        var lastIsChunked = false
        fields.forEachElement(of: "Transfer-Encoding") { coding in
            if !allowsIdentity || !HTTPCharacters.areEqual(coding, "identity") { count += 1 }
            lastIsChunked = HTTPCharacters.areEqual(coding, "chunked")
            if lastIsChunked { chunkedCount += 1 }
            return true
        }
        guard lastIsChunked, chunkedCount == 1 else { throw .framing("Transfer-Encoding") }
        guard count == 1 else { throw .unsupportedCoding }
    }
}

/// Whether a connection persists after a message (RFC 9112 §9.3).
enum HTTP1Persistence {
    /// Returns whether a message permits later messages on its connection. An HTTP/1.1 message permits them unless its
    /// `Connection` field contains `close`. An HTTP/1.0 message permits them only if the field contains `keep-alive`.
    static func isPermitted(version: HTTPVersion, fields: FieldSection) -> Bool {
        guard fields.contains("Connection") else { return version >= .http11 }
        if fields.hasElement("close", in: "Connection") { return false }
        return version >= .http11 || fields.hasElement("keep-alive", in: "Connection")
    }
}

/// The request methods that change response framing.
enum HTTP1Method: Sendable {
    case head
    case connect
    case other

    init(_ method: String) {
        switch method {
        case "HEAD": self = .head
        case "CONNECT": self = .connect
        default: self = .other
        }
    }
}
