internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// Sends a request that validates a stored response, while tasks use this response (RFC 5861 §3). If the request fails,
/// the stored response stays as it is.
final class CacheRefresh: HTTPResponseObserver {
    private struct State {
        /// The request fields as they were sent.
        var fields = FieldSection()
        var requestTime = 0
        var head: HTTPResponseHead?
        var responseTime = 0
        var content = Data()
        var isTooLarge = false
    }

    private let entry: CacheEntry
    private let key: MemoryCache.Key
    private let cache: URLCache
    private let request: URLRequest
    private let state = LockedValue(State())

    init(_ entry: CacheEntry, _ key: MemoryCache.Key, _ cache: URLCache, _ request: URLRequest) {
        self.entry = entry
        self.key = key
        self.cache = cache
        self.request = request
    }

    func start(_ value: HTTPRequestValue, _ engine: HTTPEngine) {
        state.withLock { state in
            state.fields = value.fields
            state.requestTime = CacheExchange.now
        }
        var value = value
        entry.head?.addConditions(to: &value.fields)
        value.idleTimeout = .seconds(60)
        value.deadline = .seconds(3_600)
        engine.start(value, observer: self)
    }

    func responded(_ head: HTTPResponseHead, _ connection: HTTPConnectionInformation) {
        state.withLock { state in
            state.head = head
            state.responseTime = CacheExchange.now
        }
    }

    func received(_ content: Data) {
        state.withLock { state in
            state.isTooLarge = state.isTooLarge || state.content.count + content.count > cache.maximumContentSize
            if state.isTooLarge { state.content = Data() } else { state.content.append(content) }
        }
    }

    func ended(_ result: Result<FieldSection, HTTPFailure>) {
        defer { _ = cache.validations.withLock { $0.remove(key) } }
        let state = state.withLock { $0 }
        guard case .success = result, let head = state.head, !state.isTooLarge else { return }
        let exchange = CacheExchange(
            fields: state.fields, requestTime: state.requestTime, responseTime: state.responseTime, key: key)
        guard head.status != 304 else { return confirmed(head, exchange) }
        // Do not store an error or a challenge, because neither is the URL's content. A challenge can also come from a
        // proxy. A cache refresh has no task that could answer it.
        guard !CachePolicy.isError(head.status), head.status != 401, head.status != 407 else { return }
        replace(with: head, state.content, exchange)
    }

    private func confirmed(_ head: HTTPResponseHead, _ exchange: CacheExchange) {
        guard entry.head?.isConfirmed(by: head.fields) == true else { return cache.remove(key) }
        let fresh = entry.freshened(
            with: head.fields, requestTime: exchange.requestTime, responseTime: exchange.responseTime, at: Date())
        cache.store(fresh, for: key)
    }

    private func replace(with head: HTTPResponseHead, _ content: Data, _ exchange: CacheExchange) {
        guard
            CachePolicy.isStorable(
                method: "GET", request: exchange.fields, status: head.status, fields: head.fields),
            let decoded = try? decoded(content, head.fields)
        else { return cache.remove(key) }
        let response = HTTPURLResponse(
            url: request.url, statusCode: head.status, version: "HTTP/1.1", fields: head.fields,
            isDecoded: ContentDecoding.isNeeded(for: head.fields))
        cache.store(CachedURLResponse(response: response, data: decoded), for: request, exchange)
    }

    /// Decodes the content codings; `nil` if the decoded content is larger than the cache allows.
    private func decoded(_ content: Data, _ fields: FieldSection) throws(DecodingFailure) -> Data? {
        guard !content.isEmpty, let decoder = try ContentDecoder.decoder(for: fields) else { return content }
        var result = Data()
        decoder.append(content)
        decoder.end()
        while let piece = try decoder.next() {
            result.append(piece)
            guard result.count <= cache.maximumContentSize else { return nil }
        }
        return result
    }
}
