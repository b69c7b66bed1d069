internal import CausewayImageFormats
internal import CausewaySystem
internal import CausewayURLLoading
internal import Foundation

extension ImageLoader {
    typealias ContentContext = SharedJobs<ContentJobKey, FetchedContent, ContentUpdate>.Context

    /// Returns an image's bytes from the disk or the server.
    func load(_ request: ImageRequest, _ context: ContentContext) async throws -> FetchedContent {
        let key = request.contentKey
        let record = request.cachePolicy == .reload ? nil : await configuration.disk?.record(for: key)
        if let record, isUsable(record, request.cachePolicy) {
            return FetchedContent(bytes: record.content, origin: .disk)
        }
        guard request.cachePolicy != .onlyCached else {
            throw ImageError(.notCached, "the image is in no cache")
        }
        return try await gate.run(context.priority) {
            for _ in 1..<max(configuration.attemptCount, 1) {
                do { return try await attempt(request, record, context) } catch let error as URLError {
                    // Try again only if the next attempt can continue where this attempt ended.
                    guard Self.mayContinue(error), partials.withLock({ $0.value(for: key, now: now()) }) != nil else {
                        throw error
                    }
                }
            }
            return try await attempt(request, record, context)
        }
    }

    private func isUsable(_ record: CacheRecord, _ policy: ImageRequest.CachePolicy) -> Bool {
        switch policy {
        case .cachedElseLoad, .onlyCached: true
        case .standard: record.expires.map { $0 > Self.seconds } ?? false
        case .validate, .reload: false
        }
    }

    private static func mayContinue(_ error: URLError) -> Bool {
        [.networkConnectionLost, .timedOut, .cannotParseResponse, .badServerResponse].contains(error.code)
    }

    /// The current time in seconds since 1970.
    static var seconds: Int64 { Int64(Date().timeIntervalSince1970) }

    private func attempt(
        _ request: ImageRequest, _ record: CacheRecord?, _ context: ContentContext
    ) async throws -> FetchedContent {
        let key = request.contentKey
        let partial = partials.withLock { $0.remove(key) }
        let collector = ContentCollector(
            partial: partial, limit: configuration.limits.maximumByteCount, report: context.report)
        do {
            try await fetch(urlRequest(request, record, partial), collector.sink)
        } catch {
            keep(collector.resumable, for: key)
            throw error
        }
        try Task.checkCancellation()
        let head = collector.head ?? ResponseHead()
        // If the stored part is stale, or the partial response is invalid, fetch the image again from the start.
        if partial != nil, head.status == 416 || (head.status == 206 && collector.failure != nil) {
            return try await attempt(request, record, context)
        }
        if let failure = collector.failure { throw failure }
        // A server may send less than the requested range (RFC 9110 §15.3.7). Fail this attempt; the next one requests
        // the rest.
        if head.status == 206, let total = head.contentRange?.total, collector.bytes.count < total {
            keep(collector.resumable, for: key)
            throw URLError(.networkConnectionLost)
        }
        return try await finish(request, record, head, collector.bytes)
    }

    private func finish(
        _ request: ImageRequest, _ record: CacheRecord?, _ head: ResponseHead, _ bytes: [UInt8]
    ) async throws -> FetchedContent {
        if head.status == 304, var record {
            record.stored = Self.seconds
            record.expires = head.expires(now: Self.seconds)
            await configuration.disk?.store(record)
            return FetchedContent(bytes: record.content, origin: .disk)
        }
        guard (200...299).contains(head.status) else {
            throw ImageError(.status, "the server answered with status \(head.status)", status: head.status)
        }
        if let disk = configuration.disk, head.permitsStoring {
            await disk.store(
                CacheRecord(
                    key: request.contentKey, entityTag: head.fields["etag"], lastModified: head.fields["last-modified"],
                    stored: Self.seconds, expires: head.expires(now: Self.seconds), content: bytes))
        } else {
            await configuration.disk?.remove(request.contentKey)
        }
        return FetchedContent(bytes: bytes, origin: .network)
    }

    private func urlRequest(
        _ request: ImageRequest, _ record: CacheRecord?, _ partial: PartialContent?
    ) -> URLRequest {
        var result = request.urlRequest
        if let partial {
            result.setValue("bytes=\(partial.bytes.count)-", forHTTPHeaderField: "Range")
            result.setValue(partial.validator, forHTTPHeaderField: "If-Range")
        } else if let record {
            result.setValue(record.entityTag, forHTTPHeaderField: "If-None-Match")
            result.setValue(record.lastModified, forHTTPHeaderField: "If-Modified-Since")
        }
        return result
    }

    private func keep(_ partial: PartialContent?, for key: String) {
        guard let partial else { return }
        partials.withLock { partials in
            _ = partials.store(partial, for: key, cost: partial.bytes.count, stored: now())
        }
    }
}
