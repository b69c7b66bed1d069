internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import FoundationEssentials

/// Where a request comes from. Its content is read here, and its interim responses go there.
enum RequestOrigin: Sendable {
    /// A client of a server.
    case client(ServerExchange)
    /// The program itself, for example a test.
    case program(GivenRequest)

    /// Whether the request came over TLS.
    var isSecure: Bool {
        switch self {
        case .client(let exchange): exchange.connection.isSecure
        case .program(let request): request.isSecure
        }
    }

    var remoteEndpoint: NWEndpoint {
        switch self {
        case .client(let exchange): exchange.connection.remoteEndpoint
        case .program(let request): request.remoteEndpoint
        }
    }

    /// The trailer fields; `nil` before the end of the content.
    var trailers: FieldSection? {
        switch self {
        case .client(let exchange): exchange.trailers
        case .program(let request): request.trailers
        }
    }

    /// Reads the next chunk of content. Returns `nil` at its end.
    nonisolated(nonsending) func read() async throws -> Data? {
        switch self {
        case .client(let exchange):
            return try await exchange.read()
        case .program(let request):
            try Task.checkCancellation()
            return request.read()
        }
    }

    /// Sends an interim response. If no client waits for it, only its status is checked.
    func inform(_ status: Int, _ fields: FieldSection) throws(HTTPServerError) {
        guard (102...199).contains(status) else {
            throw HTTPServerError(.invalidMessage, 500, "status \(status) is not interim")
        }
        switch self {
        case .client(let exchange): try exchange.inform(status, fields)
        case .program: break
        }
    }
}

/// What a program states about a request that it makes itself.
final class GivenRequest: Sendable {
    let isSecure: Bool
    let remoteEndpoint: NWEndpoint
    /// The content that was not read yet; `nil` at its end.
    private let content: LockedValue<Data?>

    init(_ content: Data, from remoteEndpoint: NWEndpoint, isSecure: Bool) {
        self.content = LockedValue(content.isEmpty ? nil : content)
        self.remoteEndpoint = remoteEndpoint
        self.isSecure = isSecure
    }

    /// The trailer fields, of which there are none; `nil` before the end of the content.
    var trailers: FieldSection? { content.withLock { $0 == nil } ? FieldSection() : nil }

    /// Takes the content.
    func read() -> Data? { content.withLock { $0.take() } }
}
