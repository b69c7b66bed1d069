internal import CausewayClient
internal import CausewaySystem
internal import CausewayURLLoading
internal import Foundation

extension OfflineEngine {
    /// Maximum content size in the journal, in bytes. Larger contents are stored in separate files.
    private static let inlineByteCount = 16 << 10
    /// Maximum total size of an operation's target and fields, in bytes.
    private static let headByteCount = 64 << 10

    /// Converts a request to the form that the journal records. Content that does not fit into the journal is stored in
    /// a file.
    func store(
        _ frozen: FrozenRequest, _ body: RequestBody, _ handling: OfflineOptions.FileHandling
    ) async throws(OfflineError) -> StoredMessage {
        var fields = frozen.headers.map { StoredMessage.Field(name: $0.key, value: $0.value) }
            .sorted { $0.name < $1.name }
        let source: RequestBody.Source
        do {
            source = try body.source.get()
        } catch {
            throw OfflineError(.invalidRequest, "the content cannot be encoded: \(error)")
        }
        let stored: StoredMessage.Body
        switch source {
        case .none: stored = .none
        case .data(let data): stored = try await store([UInt8](data))
        case .file(let url): stored = try await store(url.path(percentEncoded: false), handling)
        case .form(let form):
            fields.removeAll { $0.name.lowercased() == "content-type" }
            fields.append(StoredMessage.Field(name: "Content-Type", value: form.contentType))
            stored = try await store(try await bytes(of: form))
        }
        // The engine recognizes a URL by its first characters. So put a slash in front of a path that begins like a
        // URL. The slash does not change the request.
        let target = !frozen.isAbsolute && Self.isAbsolute(frozen.target) ? "/" + frozen.target : frozen.target
        let size = fields.reduce(target.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard size <= Self.headByteCount else {
            await remove(stored)
            throw OfflineError(.full, "the target and the fields have more than \(Self.headByteCount) bytes")
        }
        return StoredMessage(
            method: frozen.method, target: target, origin: Place(frozen).text, fields: fields, body: stored)
    }

    private func store(_ content: [UInt8]) async throws(OfflineError) -> StoredMessage.Body {
        try check(content.count)
        guard content.count > Self.inlineByteCount else { return .inline(content) }
        let name = Self.newContentName()
        do throws(SystemError) {
            try await writer.perform { (medium) throws(SystemError) in try medium.store(content, as: name) }
        } catch {
            throw OfflineError(.storage, "cannot store the content: \(JournalDirectory.text(error))")
        }
        return .file(name: name, byteCount: Int64(content.count))
    }

    private func store(_ path: String, _ handling: OfflineOptions.FileHandling) async throws(OfflineError)
        -> StoredMessage.Body
    {
        let limit = configuration.limits.contentByteCount
        do throws(SystemError) {
            let facts = try await writer.perform { (_) throws(SystemError) in try PrivateDirectory.facts(of: path) }
            if facts.byteCount <= limit, handling == .reference {
                return .reference(path: path, byteCount: Int64(facts.byteCount), changed: facts.changed)
            }
            let name = Self.newContentName()
            let count = try await writer.perform { (medium) throws(SystemError) in
                try medium.copy(path, as: name, limit: limit)
            }
            if let count { return .file(name: name, byteCount: Int64(count)) }
        } catch {
            throw OfflineError(.storage, "cannot keep the file \(path): \(JournalDirectory.text(error))")
        }
        throw OfflineError(.full, "the file \(path) has more than \(limit) bytes: see OfflineLimits")
    }

    private func bytes(of form: MultipartForm) async throws(OfflineError) -> [UInt8] {
        let limit = configuration.limits.contentByteCount
        let result = await Self.blocking { () throws(OfflineError) -> [UInt8] in
            guard let stream = try? form.makeInputStream() else {
                throw OfflineError(.invalidRequest, "a file of the form cannot be read")
            }
            stream.open()
            defer { stream.close() }
            var (content, piece) = ([UInt8](), [UInt8](repeating: 0, count: 64 << 10))
            while content.count <= limit {
                let count = stream.read(&piece, maxLength: piece.count)
                guard count >= 0 else { throw OfflineError(.invalidRequest, "a file of the form cannot be read") }
                if count == 0 { return content }
                content += piece[..<count]
            }
            return content
        }
        return try result.get()
    }

    private func check(_ byteCount: Int) throws(OfflineError) {
        let limit = configuration.limits.contentByteCount
        guard byteCount <= limit else {
            throw OfflineError(.full, "the content has more than \(limit) bytes: see OfflineLimits")
        }
    }

    /// Removes stored content if no operation uses it. The caller has checked this.
    func remove(_ body: StoredMessage.Body) async {
        guard case .file(let name, _) = body else { return }
        _ = try? await writer.perform { (medium) throws(SystemError) in medium.remove(name) }
    }

    private static func newContentName() -> String { JournalDirectory.contentPrefix + newKey() }

    /// Whether a stored target is a URL. Other targets are a path and query below the client's base URL. A URL inside
    /// the path or query does not count.
    private static func isAbsolute(_ target: String) -> Bool {
        target.utf8.starts(with: "http://".utf8) || target.utf8.starts(with: "https://".utf8)
    }

    // MARK: Sending

    /// An operation's request, or the end of an attempt that cannot send it.
    enum Preparation: Sendable {
        case request(ClientRequest)
        case end(AttemptEnd)
    }

    /// Prepares an operation's request. The attempt ends without a request if the operation's file cannot be sent.
    func request(for operation: StoredOperation) async -> Preparation {
        let body: RequestBody
        let message = operation.message
        let type = message.fields.first { $0.name.lowercased() == "content-type" }?.value
        switch message.body {
        case .none: body = .none
        case .inline(let bytes): body = .data(Data(bytes), contentType: type)
        case .file(let name, _):
            let path = medium.path(of: name)
            if let end = await obstacle(in: path, of: operation) { return .end(end) }
            body = .file(URL(filePath: path), contentType: type)
        case .reference(let path, let byteCount, let changed):
            if let end = await obstacle(in: path, of: operation, version: (byteCount, changed)) { return .end(end) }
            body = .file(URL(filePath: path), contentType: type)
        }
        var headers: [String: String] = [:]
        for field in message.fields { headers[field.name] = field.value }
        // The field value of `Idempotency-Key` is a Structured Field string, which includes the quotation marks (RFC
        // 8941 §3.3.3).
        headers["Idempotency-Key"] = "\"\(operation.key)\""
        var frozen = FrozenRequest(
            method: message.method, target: message.target, isAbsolute: Self.isAbsolute(message.target),
            headers: headers, isIdempotent: operation.rules.isIdempotent)
        let place = Place(message.origin)
        (frozen.host, frozen.port, frozen.usesTLS) = (place.host, place.port, place.usesTLS)
        guard let request = HTTPClient.thawed(frozen, body) else { return .end(.invalid("the stored URL is invalid")) }
        return .request(request)
    }

    /// Checks the file of an attempt. Returns `nil` if the file can be sent; otherwise returns how the attempt ends. A
    /// missing or changed file ends the operation. After any other error the file may be readable later, so the attempt
    /// is repeated.
    ///
    /// - Parameter version: The size and the modification time that the file must have; `nil` for any.
    private func obstacle(
        in path: String, of operation: StoredOperation, version: (byteCount: Int64, changed: Int64)? = nil
    ) async -> AttemptEnd? {
        do throws(SystemError) {
            let facts = try await writer.perform { (_) throws(SystemError) in try PrivateDirectory.facts(of: path) }
            guard let version else { return nil }
            let isSame = Int64(facts.byteCount) == version.byteCount && facts.changed == version.changed
            return isSame ? nil : .invalid("the file \(path) has changed")
        } catch {
            if error.errno == Errno.noEntry { return .invalid("the file \(path) is missing") }
            if error.errno == Errno.invalid { return .invalid("\(path) is not a regular file") }
            let reason = "cannot read the file \(path): \(JournalDirectory.text(error)); it is tried again"
            let event = OfflineEvent(id: OfflineOperation.ID(operation.id), kind: .storageFailed(reason))
            broadcast.send { event }
            return .notSent
        }
    }
}

/// A server other than the client's default server, in the text form that the journal stores.
private struct Place {
    var host: String?
    var port: Int?
    var usesTLS: Bool?

    init(_ frozen: FrozenRequest) { (host, port, usesTLS) = (frozen.host, frozen.port, frozen.usesTLS) }

    /// Parses scheme, host and port, separated by spaces. Each can be empty.
    init(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return }
        usesTLS = parts[0].isEmpty ? nil : parts[0] == "https"
        host = parts[1].isEmpty ? nil : String(parts[1])
        port = Int(parts[2])
    }

    var text: String {
        guard host != nil || port != nil || usesTLS != nil else { return "" }
        let scheme = usesTLS.map { $0 ? "https" : "http" } ?? ""
        return "\(scheme) \(host ?? "") \(port.map(String.init) ?? "")"
    }
}
