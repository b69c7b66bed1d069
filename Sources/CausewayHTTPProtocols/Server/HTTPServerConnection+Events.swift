import CausewayProtocols
package import CausewayWire

extension HTTPServerConnection {
    package enum Event: Equatable, Sendable {
        case requested(RequestID, HTTPServerRequestHead)
        /// Request content or tunnel bytes. Never empty.
        case content(RequestID, ArraySlice<UInt8>)
        /// The request content has ended, with these trailer fields. After an upgrade, the client has closed its
        /// sending direction. This event does not occur for a request without content.
        case finished(RequestID, trailers: FieldSection)
        /// The content exceeds the maximum content length. The content beyond that length is not delivered to the
        /// program.
        case refusedContent(RequestID)
        /// The client ended its sending direction before the program sent the response head. The client may also have
        /// closed the whole connection. Reported for HTTP/1 only.
        case clientEnded(RequestID)
        /// The last event for a request. The request is incomplete if the client, the program or the end of the
        /// connection interrupted it.
        case closed(RequestID, isComplete: Bool)
        /// The last event. Close the transport after the remaining output has been sent.
        case ended(isInterrupted: Bool)
    }
}

/// The reason why the connection rejects a call from the program.
package enum HTTPServerRefusal: Error, Equatable, Sendable {
    /// The request has ended, for example because the client closed the connection.
    case closed
    /// The message cannot be sent. The text names the fault.
    case invalid(String)

    init(_ failure: HTTP1Failure) {
        switch failure {
        case .unwritable(let error): self = .invalid("\(error)")
        case .misuse(let text): self = .invalid(text)
        case .syntax, .framing, .unsupportedCoding, .invalidRequest, .endedEarly, .endedWithoutResponse,
            .tooManyInformationalResponses, .unexpectedBytes, .unexpectedUpgrade, .aborted:
            self = .closed
        }
    }

    init(_ refusal: HTTP2Refusal) {
        switch refusal {
        case .invalid(let text): self = .invalid(text)
        case .closing, .exhausted, .closed: self = .closed
        }
    }
}

/// A request head in any HTTP version.
package struct HTTPServerRequestHead: Equatable, Sendable {
    package var method: String
    /// The path and query as sent; `*` for some OPTIONS requests; the authority for CONNECT.
    package var target: String
    /// The requested host and port; `nil` if the client sent none.
    package var authority: String?
    package var version: HTTPVersion
    /// The protocol in an extended HTTP/2 CONNECT request (RFC 8441 §4).
    package var protocolName: String?
    package var fields: FieldSection
    /// The announced content length in bytes; `nil` if it is unknown.
    package var contentLength: Int?
    /// Whether content or trailer fields follow after the head.
    package var hasContent: Bool

    package init(
        method: String, target: String, authority: String? = nil, version: HTTPVersion, protocolName: String? = nil,
        fields: FieldSection, contentLength: Int? = nil, hasContent: Bool
    ) {
        self.method = method
        self.target = target
        self.authority = authority
        self.version = version
        self.protocolName = protocolName
        self.fields = fields
        self.contentLength = contentLength
        self.hasContent = hasContent
    }
}

/// How a response frames its content.
package enum HTTPServerContent: Equatable, Sendable {
    case none
    case length(Int)
    /// Content of unknown length.
    case unknown
}
