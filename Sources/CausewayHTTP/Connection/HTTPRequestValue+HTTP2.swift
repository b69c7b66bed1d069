internal import CausewayHTTPProtocols
internal import CausewayWire
internal import FoundationEssentials

extension HTTPRequestValue {
    /// Returns the request head for HTTP/2 (RFC 9113 §8.3.1). The `Host` value becomes the authority.
    ///
    /// - Throws: ``HTTPFailure/invalidRequest(_:)`` if the fields contradict the body.
    func http2Head(_ body: HTTPRequestBody) throws(HTTPFailure) -> HTTP2RequestHead {
        guard !fields.contains("Transfer-Encoding") else { throw .unwritable("field Transfer-Encoding") }
        var head = HTTP2RequestHead(
            method: method, scheme: origin.isSecure ? "https" : "http",
            authority: fields.firstValue(of: "Host") ?? hostField, path: target, fields: fields)
        // The server must not see `Proxy-Authorization`, because this field is only for proxies (RFC 9110 §11.7.2).
        if fields.contains("Proxy-Authorization") { head.fields.removeAll("Proxy-Authorization") }
        let length: Int? =
            switch body {
            case .none: nil
            case .data(let data): data.count
            case .stream(_, let length): length
            }
        if let stated = fields.contentLength {
            let isNone = if case .none = body { true } else { false }
            guard case .success(let stated) = stated, stated == length ?? (isNone ? 0 : nil) else {
                throw .unwritable("field Content-Length")
            }
        } else if let length {
            head.fields.append("content-length", String(length))
        }
        return head
    }
}

extension HTTPExchange {
    /// The urgency for the current priority, 0 to 6 (RFC 9218 §4.1). Urgency 7, which is meant for background requests,
    /// is not used.
    var urgency: UInt8 {
        // A priority that is NaN counts as 0. The connection pool also treats it as 0.
        let priority = priority
        return UInt8(((priority > 0 ? 1 - min(priority, 1) : 1) * 6).rounded())
    }
}

extension HTTPRequestBody {
    /// The content length, `nil` if it is unknown, and the content source.
    var upload: (length: Int?, source: (any HTTPBodySource)?) {
        switch self {
        case .none: (0, nil)
        case .data(let data): (data.count, data.isEmpty ? nil : DataBodySource(data))
        case .stream(let source, let length): (length, source)
        }
    }
}

extension HTTPFailure {
    /// Creates the failure for a request that HTTP/2 cannot carry.
    init(_ refusal: HTTP2Refusal) {
        switch refusal {
        case .invalid(let part): self = .unwritable(part)
        case .closing, .exhausted, .closed: self = .noResponse(nil)
        }
    }

    fileprivate static func unwritable(_ part: String) -> HTTPFailure {
        .invalidRequest(.unwritable(.unwritable(part)))
    }
}
