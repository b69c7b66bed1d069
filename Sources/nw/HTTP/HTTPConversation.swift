import Causeway
import CausewayHTTP
import CausewayHTTPProtocols
import CausewayProtocols
import CausewaySystem
import CausewayURLLoading
import CausewayWire
import FoundationEssentials

/// One run of `nw http`. It sends the first request. It then sends the requests that redirects and authentication
/// challenges make necessary.
struct HTTPConversation {
    /// A request from the command line.
    struct Start: Sendable {
        var request: RedirectableRequest
        var content = RequestContent.none
        /// The user's credential, which is sent only to the origin of the command's URL.
        var credential: PasswordCredential?
        /// Whether to send the credential with Basic before the server asks for it.
        var sendsCredentialFirst = false
        /// The scheme for authenticating a connection: Negotiate or NTLM; `nil` to use Digest and Basic, which
        /// authenticate requests.
        var scheme: ConnectionAuthentication.Scheme?
        var followsRedirects = false
        var redirectLimit = RedirectChain.defaultLimit
        /// Whether to accept content codings whose libraries are available.
        var acceptsCodings = true
    }

    let start: Start
    private(set) var engines: HTTPEngines
    var cookies = CookieStore()
    private(set) var records: [HTTPExchangeRecord] = []
    private var chain: RedirectChain
    var attempts = AuthenticationAttempts()
    var authorizations = AuthorizationCache()
    /// The number of times that a request was sent again with the proxy credential.
    private var proxyRepetitions = 0
    var negotiation: HTTPNegotiation?
    /// The latest response's connection.
    var connection: PoolConnectionID?
    /// Called for each exchange when its response head has arrived.
    private let observe: @Sendable (HTTPExchangeRecord) -> Void
    /// Called when a request with content is sent. Returns a function to call when the response head arrives or the
    /// request fails; `nil` if there is nothing to call.
    private let sending: (@Sendable (ResponseFeed) -> (@Sendable () -> Void)?)?

    init(
        _ start: Start, _ route: HTTPRoute, cookies: [Cookie],
        observe: @escaping @Sendable (HTTPExchangeRecord) -> Void,
        sending: (@Sendable (ResponseFeed) -> (@Sendable () -> Void)?)? = nil
    ) {
        self.start = start
        engines = HTTPEngines(route)
        self.observe = observe
        self.sending = sending
        chain = RedirectChain(limit: start.redirectLimit)
        negotiation = start.scheme.map { HTTPNegotiation($0, start.credential) }
        for cookie in cookies { self.cookies.insert(cookie, at: Self.now) }
    }

    /// The maximum number of times that a request is repeated for a proxy. The first repetition sends the credential.
    /// Further repetitions answer new Digest nonces.
    private static let maximumProxyRepetitions = 8

    /// The time since 1970, for cookies.
    private static var now: Duration { .seconds(Date().timeIntervalSince1970) }

    /// Sends requests until there is a final response, and returns it without reading its content.
    mutating func run() async throws -> (head: HTTPResponseHead, feed: ResponseFeed) {
        var request = start.request
        var authorization: String?
        while true {
            guard let origin = HTTPOrigin(request.target) else {
                throw HTTPCommandFailure(.other, "the URL is invalid")
            }
            if start.sendsCredentialFirst, isFirst(origin), authorization == nil {
                authorization = start.credential.flatMap { BasicAuthentication.authorization($0) }
            }
            let content = request.hasContent ? start.content : .none
            let started = System.now
            let (head, feed) = try await exchange(request, content, authorization, at: origin)
            if let refusal = refusal(of: head, at: origin, since: started) {
                try await drain(feed)
                guard refusal.hasUnsentCredential, proxyRepetitions < Self.maximumProxyRepetitions else {
                    throw HTTPCommandFailure(refusal)
                }
                proxyRepetitions += 1
                try checkRepeatable(content, because: "the proxy asked for credentials")
                continue
            }
            receiveCookies(head.fields, of: request.target)
            authorization = nil
            if head.status == 401, let answer = try await answer(head, request, content, at: origin) {
                authorization = answer
                try await drain(feed)
                try checkRepeatable(
                    content, because: "the server asked for credentials; send them at once with --basic")
                continue
            }
            if isFirst(origin) { negotiation?.accepted() }
            guard start.followsRedirects else { return (head, feed) }
            switch chain.answered(status: head.status, fields: head.fields, to: request) {
            case .deliver: return (head, feed)
            case .refuse(let refusal, _): throw HTTPCommandFailure(refusal, from: request.target)
            case .follow(let next):
                try await drain(feed)
                if next.hasContent { try checkRepeatable(content, because: "the server redirected the request") }
                if HTTPOrigin(next.target) != origin { attempts.redirected() }
                request = next
            }
        }
    }

    private func checkRepeatable(_ content: RequestContent, because reason: PrintableText) throws {
        guard content.isRepeatable else {
            throw HTTPCommandFailure(.read, "the standard input can be sent only once: \(reason)")
        }
    }

    /// Records the end of the latest exchange.
    mutating func ended(received count: Int) {
        guard !records.isEmpty else { return }
        records[records.count - 1].ended = System.now
        records[records.count - 1].receivedCount = count
    }

    // MARK: One exchange

    private mutating func exchange(
        _ request: RedirectableRequest, _ content: RequestContent, _ authorization: String?, at origin: HTTPOrigin
    ) async throws -> (HTTPResponseHead, ResponseFeed) {
        var value = value(of: request, authorization, at: origin)
        var content = content
        if isFirst(origin), let negotiation {
            value.binding = negotiation.binding
            if negotiation.isOpening, content.isPresent { content = .data(Data()) }
        }
        var record = HTTPExchangeRecord(
            request: HTTPRequestHead(method: value.method, target: value.target, fields: value.fields),
            target: request.target, started: System.now)
        let engine = try engines.engine(for: origin)
        let feed = ResponseFeed()
        let log = engines.log
        let connectionCount = log.count
        feed.start(value, body: try content.body(), with: engine)
        let sendingEnded = content.isPresent ? sending?(feed) : nil
        engines.watchConnect(feed)
        do throws(HTTPFailure) {
            let (head, connection) = try await feed.head()
            sendingEnded?()
            record.responded = System.now
            record.response = head
            record.interim = feed.interim
            record.sentCount = feed.sentCount
            record.protocolName = connection.details.protocolName
            record.isForwarded = connection.details.isForwarded
            self.connection = connection.details.id
            if record.isForwarded { record.request.target = value.absoluteForm }
            if log.count > connectionCount, let latest = log.latest {
                record.connection = await ConnectReport(latest, nil, problem: nil)
            }
            records.append(record)
            observe(record)
            return (head, feed)
        } catch {
            sendingEnded?()
            let latest = log.count > connectionCount ? log.latest : nil
            let failure = explain(error, to: origin, latest)
            if let latest {
                record.connection = await ConnectReport(latest, log.unfinished, problem: failure.message.text)
            }
            record.ended = System.now
            records.append(record)
            throw failure
        }
    }

    /// Reads and drops the content of a response that leads to another request. Only cancellation is an error. After a
    /// read error, the connection cannot be used again, but the run continues.
    private func drain(_ feed: ResponseFeed) async throws {
        do { try await feed.drain() } catch { try Task.checkCancellation() }
    }

    // MARK: Fields

    private mutating func value(
        of request: RedirectableRequest, _ authorization: String?, at origin: HTTPOrigin
    ) -> HTTPRequestValue {
        var fields = request.fields
        let target = request.target
        if !fields.contains("Host") { fields.prepend("Host", Self.hostField(origin)) }
        if !fields.contains("User-Agent") { fields.append("User-Agent", "nw/\(NW.version)") }
        if !fields.contains("Accept") { fields.append("Accept", "*/*") }
        if !fields.contains("Accept-Encoding"), start.acceptsCodings, !fields.contains("Range"),
            let codings = ContentDecoder.acceptEncoding(isSecure: origin.isSecure)
        {
            fields.append("Accept-Encoding", codings)
        }
        if !fields.contains("Authorization"), let value = authorization ?? known(request, at: origin) {
            fields.append("Authorization", value)
        }
        if !fields.contains("Cookie"), let context = CookieContext(target),
            let value = cookies.field(for: context, at: Self.now)
        {
            fields.append(name: Array("Cookie".utf8), value: value)
        }
        // If the user gives one of these fields with an empty value, do not send the field at all. The command's
        // default value is not sent either.
        for name in ["User-Agent", "Accept", "Accept-Encoding", "Content-Type"]
        where fields.firstValue(of: name)?.isEmpty == true {
            fields.removeAll(name)
        }
        var value = HTTPRequestValue(
            method: request.method, origin: engines.destination(of: origin), target: target.originForm, fields: fields)
        value.idleTimeout = nil
        return value
    }

    private static func hostField(_ origin: HTTPOrigin) -> String {
        var host = origin.host
        if host.hasPrefix("["), let zone = host.firstIndex(of: "%") { host = host[..<zone] + "]" }
        return origin.port == (origin.isSecure ? 443 : 80) ? host : "\(host):\(origin.port)"
    }

    private mutating func receiveCookies(_ fields: FieldSection, of target: URIReference) {
        guard let context = CookieContext(target) else { return }
        for field in fields where field.name.elementsEqual("set-cookie".utf8, by: { $0 | 0x20 == $1 | 0x20 }) {
            cookies.receive(field.value, from: context, at: Self.now)
        }
    }
}
