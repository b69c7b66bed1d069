internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// Makes the requests of a load from the program's request and the session's settings.
struct LoadRequests {
    /// How a request carries an accepted credential before the server asks for it.
    enum Reuse {
        case inField(of: ProtectionSpace)
        /// The request uses connections that are authenticated with the credential. Only requests with this credential
        /// use these connections.
        case onBoundConnections(of: BoundConnections.Owner)
    }

    let attempt: LoadAttempt
    let network: HTTPNetwork
    /// The request target; `nil` if the request's URL is not valid.
    let target: RequestTarget?
    /// The state of this resumable upload. `nil` for requests that are not resumable uploads.
    let uploading: RunningUpload?
    /// Whether the request opens a WebSocket.
    let isWebSocket: Bool

    private var values: RequestValues { attempt.request.values }

    /// Whether the request has content.
    private var hasContent: Bool {
        if case .none = values.body { false } else { true }
    }

    /// Whether the request has content other than empty data.
    private var hasBytes: Bool {
        if case .data(let data) = values.body { !data.isEmpty } else { hasContent }
    }

    /// The position in the content at which the next request begins; `nil` if that request sends no content.
    var nextOffset: Int64? { uploading.map { $0.nextOffset } ?? 0 }

    /// Whether the body stream can be read again without asking the program.
    var hasRepeatableStream: Bool {
        switch attempt.task.plan.source {
        case .file, .form: true
        case .request, .data, .stream: false
        }
    }

    // MARK: Requests

    /// Returns the request for the engine, with the session's fields added.
    ///
    /// - Throws: The failure of a request that cannot be sent, for example because its URL has no `//` or no host (RFC
    ///   9110 §4.2.1).
    func make(
        _ cookies: LoadCookies.Source, _ authorization: LoadAccess.Authorization
    ) throws(LoadFailure) -> (HTTPRequestValue, Reuse?) {
        let target = uploading == nil ? target : nil
        guard var value = current(to: target), value.origin.port != 0 else { throw LoadFailure(.badURL) }
        do throws(NWError) {
            _ = try network.proxies(isSecure: value.origin.isSecure)
        } catch {
            throw LoadFailure(unusableProxies: error)
        }
        let upgrade = value.fields.isEmpty ? nil : upgradeField(value.fields)
        if let target {
            value.fields = target.fields(completing: value.fields)
        } else {
            DefaultFields.removeManaged(from: &value.fields)
            DefaultFields.addMissing(to: &value.fields, isSecure: value.origin.isSecure)
        }
        DefaultFields.add(to: &value, hasContent: hasBytes, policy: values.cachePolicy)
        LoadCookies(attempt: attempt, network: network).add(from: cookies, to: &value, target)
        let reuse = authorize(&value, authorization)
        if isWebSocket { try WebSocketHandshake(network).add(to: &value) }
        if let upgrade {
            value.fields.append("Upgrade", upgrade)
            value.fields.append("Connection", "Upgrade")
            value.isUpgrade = true
        }
        value.priority = attempt.priority
        // The engine needs no idle timeout, because the task has its own timeouts.
        value.idleTimeout = nil
        value.waitsForPath = network.settings.access.waitsForConnectivity
        return (value, reuse)
    }

    /// Returns the protocol in the request's `Upgrade` field (RFC 9110 §7.8). Returns `nil` if there is none, or if the
    /// protocol must not be switched. A switch requires that a delegate receives the response, because only a delegate
    /// can take over the connection.
    private func upgradeField(_ fields: FieldSection) -> String? {
        guard let name = fields.firstValue(of: "Upgrade"), !isWebSocket, !hasContent,
            case .delegate = attempt.task.plan.outlet, attempt.task.plan.source.isOfRequest
        else { return nil }
        return name
    }

    /// Returns the request without the session's fields. This is the program's request, or the current request of a
    /// resumable upload.
    private func current(to target: RequestTarget?) -> HTTPRequestValue? {
        if let uploading { return uploading.request(values) }
        guard let target else { return nil }
        return HTTPRequestValue(
            method: values.method, origin: target.origin, target: target.originForm, fields: values.unfoldedFields)
    }

    /// Adds this exchange's credential to the request. If the exchange has none, this method adds a credential that the
    /// server has accepted before.
    private func authorize(_ value: inout HTTPRequestValue, _ authorization: LoadAccess.Authorization) -> Reuse? {
        value.binding = authorization.binding
        if let route = authorization.route { value.route = route }
        if let field = authorization.field {
            value.fields.set("Authorization", field)
            return nil
        }
        guard !network.hasNoCredential, value.binding == nil, !value.fields.contains("Authorization") else {
            return nil
        }
        let origin = value.origin
        if let owner = network.boundOwner(of: .origin(origin)) { return .onBoundConnections(of: owner) }
        let digest = DigestRequest(method: value.method, target: value.target, content: nil)
        let path = String(value.target.prefix { $0 != "?" })
        let known = network.withAuthorization {
            $0.authorization(for: digest, path: path, at: .origin(origin), clientNonce: DigestRequest.clientNonce())
        }
        guard let known else { return nil }
        value.fields.append("Authorization", known.value)
        return .inField(of: known.space)
    }

    /// The request's data for the computation of a Digest answer, and the request's URL. `nil` if the request is not
    /// valid.
    var digestRequest: (DigestRequest, URIReference)? {
        guard let text = attempt.request.url?.absoluteString, let uri = URIReference(text),
            let sent = current(to: target)
        else { return nil }
        let offset = nextOffset
        let content: [UInt8]? =
            switch values.body {
            case .none: []
            case .data(let data): offset.map { Array(data.dropFirst(Int($0))) } ?? []
            case .stream: offset == nil ? [] : nil
            }
        return (DigestRequest(method: sent.method, target: sent.target, content: content), uri)
    }

    // MARK: Content

    /// Returns the request content in the form that the engine needs.
    ///
    /// - Parameter isOpening: Whether the request carries the first message of a multi-step authentication. Such a
    ///   request is sent without its content, because the server always refuses the request.
    func makeBody(isOpening: Bool = false) throws(LoadFailure) -> HTTPRequestBody {
        if isOpening { return hasContent ? .data(Data()) : .none }
        guard let offset = nextOffset else { return .none }
        // As on Apple platforms, a GET request must not have content.
        guard values.method != "GET" || !hasBytes else { throw LoadFailure(.tooLarge) }
        if case .file(let url) = attempt.task.plan.source, hasContent {
            let size = try FileFacts.size(of: url)
            // If the file has become shorter than `offset`, no bytes are left to send.
            let rest = max(0, size - offset)
            return .stream(
                PausableSource(try FileBodyReader(url, from: offset, count: rest), for: attempt), length: Int(rest))
        }
        if case .form(let content) = attempt.task.plan.source, hasContent {
            let reader = FormBodyReader(content, from: offset)
            return .stream(PausableSource(reader, for: attempt), length: Int(max(0, content.count - offset)))
        }
        switch values.body {
        case .none:
            // A POST, PUT or PATCH request without content needs a length of 0. Without a length, the server cannot
            // know that there is no content (RFC 9110 §8.6).
            switch values.method {
            case "POST", "PUT", "PATCH": return .data(Data())
            default: return .none
            }
        case .data(let data): return .data(offset == 0 ? data : Data(data.dropFirst(Int(offset))))
        case .stream(let stream): return makeBody(stream)
        }
    }

    /// Returns request content that is read from a stream. Its length is the value of the program's Content-Length
    /// field.
    func makeBody(_ stream: Unchecked<InputStream>) -> HTTPRequestBody {
        let length = values.fields.firstValue(of: "Content-Length").flatMap { Int(digits: $0) }
        let rest = length.map { max(0, $0 - Int(nextOffset ?? 0)) }
        return .stream(PausableSource(StreamBodyReader(stream: stream), for: attempt), length: rest)
    }
}
