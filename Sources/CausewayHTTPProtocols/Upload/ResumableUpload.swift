package import CausewayProtocols
package import CausewayWire

/// The client's side of an upload that continues after its connection broke (draft-ietf-httpbis-resumable-upload).
///
/// The first request creates the upload. If the server supports the draft, it names a resource in an informational response 104. After the
/// connection has broken, a HEAD request to this resource asks how much has arrived, and a PATCH request sends the rest.
package struct ResumableUpload: Equatable, Sendable {
    /// The request that is sent now.
    package enum Request: Equatable, Sendable {
        /// The request of the program, with all of the content.
        case creation
        /// Asks for the offset.
        case retrieval
        /// Sends the content from an offset on.
        case appending(from: Int64)
    }

    /// How the upload continues.
    package enum Decision: Equatable, Sendable {
        /// The response is the one to the upload.
        case deliver
        /// The upload fails, because its connection broke.
        case fail
        /// ``ResumableUpload/request`` is sent after this time.
        case send(after: Duration)
    }

    /// The number of failures in a row, without new content at the server, after which the upload fails.
    package static let maximumAttempts = 5
    /// The number of times that the upload starts over, because the server has forgotten it.
    package static let maximumRestarts = 2
    private static let firstDelay = Duration.milliseconds(200)
    private static let maximumDelay = Duration.seconds(10)

    package private(set) var request: Request
    package private(set) var version: UploadVersion
    /// The resource of the upload; `nil` as long as the server has named none.
    package private(set) var resource: URIReference?
    /// The size of the content in bytes; `nil` if it is unknown.
    package let length: Int64?
    private let mayStartOver: Bool
    /// The number of bytes that the server has confirmed.
    package private(set) var offset: Int64 = 0
    private var attempts = 0
    private var restarts = 0

    /// Creates an upload that has not begun.
    ///
    /// - Parameter mayStartOver: Whether the program permits to send the first request again, which the server may have handled already: its
    ///   method is idempotent (RFC 9110 §9.2.2).
    package init(length: Int64?, mayStartOver: Bool, version: UploadVersion = .latest) {
        request = .creation
        self.version = version
        self.length = length
        self.mayStartOver = mayStartOver
    }

    /// Creates an upload that continues an earlier one. It starts over if the server has forgotten the earlier one, because the program asked
    /// for it.
    package init(continuing resource: URIReference, length: Int64?, version: UploadVersion) {
        request = .retrieval
        self.version = version
        self.resource = resource
        self.length = length
        mayStartOver = true
    }

    // MARK: Requests

    /// Turns the request of the program into the one that is sent now.
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

    /// Directs a request to the resource of the upload.
    private func move(_ value: inout RedirectableRequest, method: String) {
        guard let resource else { return }
        value.method = method
        RedirectChain.removeFieldsOfContent(from: &value.fields)
        value.target = resource
    }

    // MARK: Responses

    /// Receives an informational response to a request for `target`. A resource of another origin is ignored, because the requests contain
    /// credentials.
    package mutating func informed(status: Int, fields: FieldSection, target: URIReference) {
        guard status == 104, request != .retrieval, let text = fields.onlyValue(of: "Location"),
            let resource = URIReference(text)?.resolved(against: target), let origin = HTTPOrigin(resource),
            origin == HTTPOrigin(target)
        else { return }
        self.resource = resource
        version = UploadVersion(fields) ?? version
    }

    /// Receives the final response to the request.
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
        // The server has everything, but its response was lost. This one has to do.
        guard !UploadFields.isComplete(fields) else { return .deliver }
        guard let offset = UploadFields.offset(in: fields), offset <= length ?? .max else {
            return startOver(else: .fail)
        }
        if offset > self.offset { attempts = 0 }
        self.offset = offset
        request = .appending(from: offset)
        return .send(after: .zero)
    }

    /// Receives the failure of the connection before a final response.
    package mutating func connectionBroke() -> Decision { retry(else: .fail) }

    /// Asks for the offset, later after each failure.
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
