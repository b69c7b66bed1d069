package import CausewayProtocols
package import CausewayWire

/// The client side of a resumable upload (draft-ietf-httpbis-resumable-upload).
///
/// The first request creates the upload. If the server supports the draft, it names an upload resource in a 104
/// informational response. After the connection has broken, a HEAD request to this resource retrieves the upload
/// offset: the number of content bytes that the server has. A PATCH request then sends the rest of the content.
package struct ResumableUpload: Equatable, Sendable {
    /// The request to send now.
    package enum Request: Equatable, Sendable {
        /// Sends the program's request with all its content.
        case creation
        /// Asks the server for the upload offset.
        case retrieval
        /// Sends the content from this byte offset.
        case appending(from: Int64)
    }

    /// How the upload continues.
    package enum Decision: Equatable, Sendable {
        /// Deliver the latest response to the program as the result of the upload.
        case deliver
        /// Fail the upload, because the connection broke.
        case fail
        /// Send ``ResumableUpload/request`` after this delay.
        case send(after: Duration)
    }

    /// The maximum number of consecutive failures without new content at the server.
    package static let maximumAttempts = 5
    /// The maximum number of restarts after the server has lost the upload.
    package static let maximumRestarts = 2
    private static let firstDelay = Duration.milliseconds(200)
    private static let maximumDelay = Duration.seconds(10)

    package private(set) var request: Request
    package private(set) var version: UploadVersion
    /// The upload resource; `nil` until the server has named one.
    package private(set) var resource: URIReference?
    /// The content length in bytes; `nil` if it is unknown.
    package let length: Int64?
    private let mayStartOver: Bool
    /// Bytes confirmed by the server.
    package private(set) var offset: Int64 = 0
    private var attempts = 0
    private var restarts = 0

    /// Creates an upload that has not begun.
    ///
    /// - Parameters:
    ///   - length: The content length in bytes; `nil` if it is unknown.
    ///   - mayStartOver: Whether the first request may be sent again. This requires an idempotent method (RFC 9110
    ///     §9.2.2), because the server may have processed the request already.
    ///   - version: The draft version.
    package init(length: Int64?, mayStartOver: Bool, version: UploadVersion = .latest) {
        request = .creation
        self.version = version
        self.length = length
        self.mayStartOver = mayStartOver
    }

    /// Creates an upload that continues an earlier upload. If the server has lost the earlier upload, this upload
    /// starts over. That is permitted for every method, because the program has requested the upload again.
    package init(continuing resource: URIReference, length: Int64?, version: UploadVersion) {
        request = .retrieval
        self.version = version
        self.resource = resource
        self.length = length
        mayStartOver = true
    }

    // MARK: Requests

    /// Changes the program's request so that it becomes the upload's next request. The kind of that request is in
    /// ``request``.
    package func apply(to value: inout RedirectableRequest) {
        value.fields.set(UploadVersion.fieldName, "\(version.rawValue)")
        switch request {
        case .creation:
            UploadFields.setComplete(version, in: &value.fields)
            if version >= .six, let length { value.fields.set("Upload-Length", "\(length)") }
        case .retrieval:
            move(&value, method: "HEAD")
            value.hasContent = false
        case .appending(let offset):
            move(&value, method: "PATCH")
            value.fields.set("Upload-Offset", "\(offset)")
            UploadFields.setComplete(version, in: &value.fields)
            if version >= .six { value.fields.set("Content-Type", "application/partial-upload") }
        }
    }

    /// Sets the upload resource as the request's target.
    private func move(_ value: inout RedirectableRequest, method: String) {
        guard let resource else { return }
        value.method = method
        RedirectChain.removeFieldsOfContent(from: &value.fields)
        value.target = resource
    }

    // MARK: Responses

    /// Receives an informational response to a request for `target`. Discards an upload resource with another origin.
    /// Otherwise later requests could send the program's credentials to that origin.
    package mutating func informed(status: Int, fields: FieldSection, target: URIReference) {
        guard status == 104, request != .retrieval, let text = fields.onlyValue(of: "Location"),
            let resource = URIReference(text)?.resolved(against: target), let origin = HTTPOrigin(resource),
            origin == HTTPOrigin(target)
        else { return }
        self.resource = resource
        version = UploadVersion(fields) ?? version
    }

    /// Decides what to do after the final response to ``request``.
    package mutating func answered(status: Int, fields: FieldSection) -> Decision {
        switch (request, status) {
        case (.creation, _): .deliver
        case (.retrieval, 200..<300): retrieved(fields)
        case (.retrieval, 429), (.retrieval, 500...): retry(else: .fail)
        case (.retrieval, _): startOver(else: .fail)
        case (.appending, 404), (.appending, 410): startOver(else: .deliver)
        case (.appending, 409): retry(else: .deliver)
        case (.appending, _): .deliver
        }
    }

    private mutating func retrieved(_ fields: FieldSection) -> Decision {
        // The server has all content, but an earlier response was lost. Deliver this response instead of the lost one.
        guard !UploadFields.isComplete(fields) else { return .deliver }
        // The offset must not decrease: a server that has lost content must abandon the upload
        // (draft-ietf-httpbis-resumable-upload §4.1.1). If the offset decreases nevertheless, start over. Otherwise the
        // server could make the client retry without end.
        guard let offset = UploadFields.offset(in: fields), offset >= self.offset, offset <= length ?? .max else {
            return startOver(else: .fail)
        }
        if offset > self.offset { attempts = 0 }
        self.offset = offset
        request = .appending(from: offset)
        return .send(after: .zero)
    }

    /// Reports that the connection broke before the final response arrived.
    package mutating func connectionBroke() -> Decision { retry(else: .fail) }

    /// Plans a new query for the upload offset after an exponential back-off.
    ///
    /// Returns `end` if the server has not named an upload resource, or if the number of attempts has reached
    /// ``maximumAttempts``.
    private mutating func retry(else end: Decision) -> Decision {
        guard resource != nil, attempts < Self.maximumAttempts else { return end }
        attempts += 1
        request = .retrieval
        let delay = Self.firstDelay * (1 << (2 * (attempts - 1)))
        return .send(after: min(delay, Self.maximumDelay))
    }

    private mutating func startOver(else end: Decision) -> Decision {
        guard mayStartOver, restarts < Self.maximumRestarts else { return end }
        restarts += 1
        resource = nil
        offset = 0
        request = .creation
        return .send(after: .zero)
    }
}
