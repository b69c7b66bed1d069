internal import Causeway
internal import CausewayHTTPProtocols
internal import CausewayWire
internal import Foundation

/// The file format for stored responses.
enum DiskFile {
    /// The names of the fields that a cache file contains for a response that is not an HTTP response.
    private enum Name {
        static let mediaType = "media-type"
        static let length = "length"
        static let charset = "charset"
    }

    /// Encodes an entry as a file in two pieces: a record that describes the response, followed by the content. Returns
    /// `nil` if the entry cannot be stored in a file.
    static func pieces(of entry: CacheEntry, for key: MemoryCache.Key) -> [[UInt8]]? {
        guard let url = entry.response.response.url?.absoluteString else { return nil }
        let content = [UInt8](entry.response.data)
        let http = entry.response.response as? HTTPURLResponse
        guard let stored = entry.head ?? plainHead(entry) else { return nil }
        var traits: CacheRecord.Traits = []
        if let http {
            traits.insert(.isHTTP)
            if http.isContentDecoded { traits.insert(.isDecoded) }
        }
        let record = CacheRecord(
            key: key.text, url: url, version: http?.versionText ?? "", traits: traits, stored: stored,
            attachment: attachment(entry.response.userInfo),
            content: CacheRecord.Content(count: content.count, checksum: CacheChecksum.of(content)))
        return record.serialized().map { [$0, content] }
    }

    /// Decodes a file; `nil` if it is damaged or belongs to another key.
    static func entry(_ file: [UInt8], for key: MemoryCache.Key, changed: Date) -> CacheEntry? {
        guard let (record, start) = try? CacheRecord.parse(file.span.bytes), record.key == key.text,
            let url = URL(string: record.url)
        else { return nil }
        let content = Data(file[start...])
        let userInfo = userInfo(record.attachment)
        guard record.traits.contains(.isHTTP) else {
            let response = plainResponse(record.stored.fields, url)
            let cached = CachedURLResponse(
                response: response, data: content, userInfo: userInfo, storagePolicy: .allowed)
            return CacheEntry(response: cached, head: nil, stored: changed)
        }
        let response = HTTPURLResponse(
            url: url, statusCode: record.stored.status, version: record.version.isEmpty ? nil : record.version,
            fields: record.stored.usableFields, isDecoded: record.traits.contains(.isDecoded))
        let cached = CachedURLResponse(response: response, data: content, userInfo: userInfo, storagePolicy: .allowed)
        return CacheEntry(response: cached, head: record.stored, stored: changed)
    }

    // MARK: Responses of other protocols

    private static func plainHead(_ entry: CacheEntry) -> StoredResponse? {
        let values = entry.response.response.values
        var fields = FieldSection()
        fields.append(Name.length, String(values.expectedContentLength))
        if let type = values.mimeType { fields.append(Name.mediaType, type) }
        if let charset = values.textEncodingName { fields.append(Name.charset, charset) }
        return StoredResponse(
            status: 0, fields: fields, request: FieldSection(), requestTime: 0, responseTime: 0)
    }

    private static func plainResponse(_ fields: FieldSection, _ url: URL) -> URLResponse {
        URLResponse(
            values: URLResponse.Values(
                url: url, mimeType: fields.firstValue(of: Name.mediaType),
                expectedContentLength: fields.firstValue(of: Name.length).flatMap { Int64(digits: $0) } ?? -1,
                textEncodingName: fields.firstValue(of: Name.charset)))
    }

    // MARK: User info

    /// Returns the user info as a property list; no bytes if it is empty or cannot be encoded.
    private static func attachment(_ userInfo: [AnyHashable: Any]?) -> [UInt8] {
        guard let userInfo = userInfo as? [String: Any],
            PropertyListSerialization.propertyList(userInfo, isValidFor: .binary),
            let data = try? PropertyListSerialization.data(fromPropertyList: userInfo, format: .binary, options: 0)
        else { return [] }
        return [UInt8](data)
    }

    private static func userInfo(_ bytes: [UInt8]) -> [AnyHashable: Any]? {
        guard !bytes.isEmpty else { return nil }
        return try? PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [String: Any]
    }
}
