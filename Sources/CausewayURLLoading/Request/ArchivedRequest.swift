internal import CausewayWire
internal import Foundation

/// The archived form of a request, also used in resume data. A body stream cannot be archived, so it is omitted.
struct ArchivedRequest: Codable {
    private struct Field: Codable {
        var name: String
        var value: String
    }

    private var url: String?
    private var mainDocumentURL: String?
    private var cachePolicy: UInt
    private var timeoutInterval: TimeInterval
    private var networkServiceType: UInt
    private var attribution: UInt
    private var options: UInt16
    private var cookiePartitionIdentifier: String?
    private var method: String
    private var fields: [Field]
    private var body: Data?

    init(_ values: RequestValues) {
        url = values.url?.absoluteString
        mainDocumentURL = values.mainDocumentURL?.absoluteString
        cachePolicy = values.cachePolicy.rawValue
        timeoutInterval = values.timeoutInterval
        networkServiceType = values.networkServiceType.rawValue
        attribution = values.attribution.rawValue
        options = values.options.rawValue
        cookiePartitionIdentifier = values.cookiePartitionIdentifier
        method = values.method
        fields = values.fields.map {
            Field(name: String(decoding: $0.name, as: UTF8.self), value: String(decoding: $0.value, as: UTF8.self))
        }
        body = values.body.data
    }

    /// The request's values. A property gets its default value if its stored raw value matches no enumeration case.
    var values: RequestValues {
        var values = RequestValues(
            url: url.flatMap { URL(string: $0) },
            cachePolicy: NSURLRequest.CachePolicy(rawValue: cachePolicy) ?? .useProtocolCachePolicy,
            timeoutInterval: timeoutInterval)
        values.mainDocumentURL = mainDocumentURL.flatMap { URL(string: $0) }
        values.networkServiceType = NSURLRequest.NetworkServiceType(rawValue: networkServiceType) ?? .default
        values.attribution = NSURLRequest.Attribution(rawValue: attribution) ?? .developer
        values.options = RequestOptions(rawValue: options)
        values.cookiePartitionIdentifier = cookiePartitionIdentifier
        values.setMethod(method)
        for field in fields where RequestValues.canSet(field.value, field.name) {
            values.fields.append(field.name, field.value)
        }
        values.body = body.map { .data($0) } ?? .none
        return values
    }
}

extension NSCoder {
    /// The archive key under which this module's classes store their property list.
    private static var valuesKey: String { "CausewayValues" }

    /// Encodes a value as a binary property list under the key ``valuesKey``.
    func encodePropertyList(_ value: some Encodable) {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        guard let data = try? encoder.encode(value) else { return }
        encode(NSData(data: data), forKey: Self.valuesKey)
    }

    /// Decodes what ``encodePropertyList(_:)`` encoded. Returns `nil` for any other content.
    func decodePropertyList<Value: Decodable>(_ type: Value.Type) -> Value? {
        guard let data = decodeObject(of: NSData.self, forKey: Self.valuesKey) else { return nil }
        return try? PropertyListDecoder().decode(type, from: Data(referencing: data))
    }
}
