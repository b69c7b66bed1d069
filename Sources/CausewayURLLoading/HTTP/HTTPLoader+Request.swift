internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

extension HTTPLoader {
    /// Returns the request for the engine, with the session's fields added. A URL without slashes or host is not valid (RFC 9110 §4.2.1).
    func makeRequest(_ cookies: CookieSource) throws(LoadFailure) -> HTTPRequestValue {
        let target = uploading == nil ? target : nil
        guard var value = currentRequest(to: target), value.origin.port != 0 else { throw LoadFailure(.badURL) }
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
        DefaultFields.add(to: &value, hasContent: hasBytes, policy: request.values.cachePolicy)
        addCookies(from: cookies, to: &value, target)
        addAuthorization(to: &value)
        if isWebSocket { try addHandshake(to: &value) }
        if let upgrade {
            value.fields.append("Upgrade", upgrade)
            value.fields.append("Connection", "Upgrade")
            value.isUpgrade = true
        }
        value.priority = attempt.task.priority
        // The task has its own timeouts.
        value.idleTimeout = nil
        value.waitsForPath = network.settings.access.waitsForConnectivity
        return value
    }

    /// Returns the requested `Upgrade` protocol (RFC 9110 §7.8); `nil` for none. Only a delegate can take over the connection.
    private func upgradeField(_ fields: FieldSection) -> String? {
        guard let name = fields.firstValue(of: "Upgrade"), !isWebSocket, !hasContent,
            case .delegate = attempt.task.plan.outlet, attempt.task.plan.source.isOfRequest
        else { return nil }
        return name
    }

    /// The program's request, or the current one in a resumable upload, without the session's fields.
    var currentRequest: HTTPRequestValue? { currentRequest(to: target) }

    private func currentRequest(to target: RequestTarget?) -> HTTPRequestValue? {
        if let upload { return request(of: upload) }
        guard let target else { return nil }
        return HTTPRequestValue(
            method: request.values.method, origin: target.origin, target: target.originForm,
            fields: request.values.unfoldedFields)
    }

    /// Whether the request has content.
    private var hasContent: Bool {
        if case .none = request.values.body { false } else { true }
    }

    /// Whether the request has content other than empty data.
    private var hasBytes: Bool {
        if case .data(let data) = request.values.body { !data.isEmpty } else { hasContent }
    }

    /// Returns the content for the engine.
    func makeBody() throws(LoadFailure) -> HTTPRequestBody {
        guard let offset = nextOffset else { return .none }
        // As on Apple platforms, a GET request must not have content.
        guard request.values.method != "GET" || !hasBytes else { throw LoadFailure(.tooLarge) }
        if case .file(let url) = attempt.task.plan.source, hasContent {
            let size = try FileFacts.size(of: url)
            // There is nothing to send beyond the end of a truncated file.
            let rest = max(0, size - offset)
            return .stream(
                PausableSource(try FileBodyReader(url, from: offset, count: rest), for: attempt), length: Int(rest))
        }
        if case .form(let content) = attempt.task.plan.source, hasContent {
            let reader = FormBodyReader(content, from: offset)
            return .stream(PausableSource(reader, for: attempt), length: Int(max(0, content.count - offset)))
        }
        switch request.values.body {
        case .none:
            // Without a length, a server cannot know that these methods have no content (RFC 9110 §8.6).
            switch request.values.method {
            case "POST", "PUT", "PATCH": return .data(Data())
            default: return .none
            }
        case .data(let data): return .data(offset == 0 ? data : Data(data.dropFirst(Int(offset))))
        case .stream(let stream): return makeBody(stream)
        }
    }

    /// Returns a stream's content. The program's Content-Length field states its length.
    func makeBody(_ stream: Unchecked<InputStream>) -> HTTPRequestBody {
        let length = request.values.fields.firstValue(of: "Content-Length").flatMap { Int(digits: $0) }
        let rest = length.map { max(0, $0 - Int(nextOffset ?? 0)) }
        return .stream(PausableSource(StreamBodyReader(stream: stream), for: attempt), length: rest)
    }

    /// Adds this exchange's credential, or one that the server has accepted before.
    private func addAuthorization(to value: inout HTTPRequestValue) {
        let (given, binding, route) = state.withLock { state in
            (state.access.credentials.takeField(), state.access.bound?.binding, state.access.takeRoute())
        }
        value.binding = binding
        if let route { value.route = route }
        if let given { return value.fields.set("Authorization", given) }
        guard !network.hasNoCredential, binding == nil, !value.fields.contains("Authorization") else { return }
        if let owner = network.boundOwner(of: .origin(value.origin)) {
            return state.withLock { state in
                state.access.bound = Bound(owner: owner, handshake: BoundHandshake(needsNewConnection: false))
            }
        }
        let digest = DigestRequest(method: value.method, target: value.target, content: nil)
        let (path, origin) = (String(value.target.prefix { $0 != "?" }), value.origin)
        let known = network.withAuthorization {
            $0.authorization(for: digest, path: path, at: .origin(origin), clientNonce: Self.nonce())
        }
        guard let known else { return }
        value.fields.append("Authorization", known.value)
        state.withLock { state in state.access.credentials.sent(in: known.space) }
    }

    /// Returns random digits for Digest authentication (RFC 7616 §3.4).
    static func nonce() -> String {
        String(UInt64.random(in: .min ... .max), radix: 16) + String(UInt64.random(in: .min ... .max), radix: 16)
    }
}

extension HTTPLoader.Access {
    /// Returns the route of the next request; `nil` for any. One request uses a new connection to a proxy.
    fileprivate mutating func takeRoute() -> RetryDecision.Route? {
        guard proxy?.needsNewConnection == true else { return repeated }
        proxy?.needsNewConnection = false
        return .newConnection
    }
}
