internal import Causeway
internal import CausewaySystem
internal import CausewayWire
public import Foundation

/// An HTTP response's status and header fields.
///
/// The header fields are stored as received. The dictionary ``allHeaderFields`` is built when it is first read;
/// ``value(forHTTPHeaderField:)`` does not use it.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: the stored properties are constants, and a lock guards the cached dictionary. Subclasses outside this module must make their own
// properties thread-safe.
@preconcurrency open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    /// The values to archive in addition to the superclass's values.
    struct Head: Codable, Hashable, Sendable {
        var url: URL?
        var statusCode: Int
        var version: String?
        var names: [String]
        var values: [String]
        var isDecoded: Bool
    }

    let fields: FieldSection
    private let status: Int
    private let version: String?
    /// Whether a content coding was removed. Content-Length is then not the length of the delivered content.
    private let isDecoded: Bool
    /// Whether the content came from the cache: without a request, or after the server confirmed it with status 304.
    package let isFromCache: Bool

    /// Whether the content has a coding that is removed before delivery.
    var isContentDecoded: Bool { isDecoded }

    private let dictionary = LockedValue<Unchecked<[AnyHashable: Any]>?>(nil)

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - statusCode: The status code.
    ///   - httpVersion: The HTTP version, such as `HTTP/1.1`.
    ///   - headerFields: The header fields. Well-known names get their usual capitalization.
    public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) {
        var fields = FieldSection()
        for (name, value) in (headerFields ?? [:]).sorted(by: { $0.key < $1.key }) { fields.append(name, value) }
        self.fields = fields
        status = statusCode
        version = httpVersion
        isDecoded = false
        isFromCache = false
        super.init(values: Values(url: url, expectedContentLength: -1))
    }

    /// Creates a response with the status 0 and without fields, for subclasses with an initializer of their own.
    public override init() {
        fields = FieldSection()
        (status, version, isDecoded, isFromCache) = (0, nil, false, false)
        super.init()
    }

    /// Creates a response from a parsed response head.
    ///
    /// - Parameter isDecoded: Whether the content coding is removed before delivery.
    init(
        url: URL?, statusCode: Int, version: String?, fields: FieldSection, isDecoded: Bool, isFromCache: Bool = false
    ) {
        self.fields = fields
        status = statusCode
        self.version = version
        self.isDecoded = isDecoded
        self.isFromCache = isFromCache
        super.init(values: Values(url: url, expectedContentLength: -1))
    }

    /// Returns a copy with another status and other fields.
    func copy(status: Int, fields: FieldSection) -> HTTPURLResponse {
        HTTPURLResponse(url: values.url, statusCode: status, version: version, fields: fields, isDecoded: isDecoded)
    }

    /// Returns the response marked as cached. A response of a program's own subclass is returned unchanged.
    ///
    /// - Parameter age: The `Age` value in seconds (RFC 9111 §5.1); `nil` to keep the response's own value.
    func fromCache(age: Int?) -> HTTPURLResponse {
        guard type(of: self) == HTTPURLResponse.self else { return self }
        var fields = fields
        if let age { fields.set("Age", "\(age)") }
        return HTTPURLResponse(
            url: values.url, statusCode: status, version: version, fields: fields, isDecoded: isDecoded,
            isFromCache: true)
    }

    /// The HTTP version, such as `HTTP/1.1`.
    var versionText: String { version ?? "" }

    /// Decodes a response. Returns `nil` if the archive was not written by this module.
    public required init?(coder: NSCoder) {
        guard let head = coder.decodePropertyList(Head.self), head.names.count == head.values.count else { return nil }
        var fields = FieldSection()
        for (name, value) in zip(head.names, head.values) { fields.append(name, value) }
        self.fields = fields
        status = head.statusCode
        version = head.version
        isDecoded = head.isDecoded
        isFromCache = false
        super.init(values: Values(url: head.url, expectedContentLength: -1))
    }

    /// Encodes the response.
    open override func encode(with coder: NSCoder) { coder.encodePropertyList(head) }

    /// Returns a response from archived values; `nil` if they are inconsistent.
    static func restored(_ head: Head) -> HTTPURLResponse? {
        guard head.names.count == head.values.count else { return nil }
        var fields = FieldSection()
        for (name, value) in zip(head.names, head.values) { fields.append(name, value) }
        return HTTPURLResponse(
            url: head.url, statusCode: head.statusCode, version: head.version, fields: fields, isDecoded: head.isDecoded
        )
    }

    /// The values for an archive.
    var head: Head {
        Head(
            url: values.url, statusCode: status, version: version,
            names: fields.map { String(decoding: $0.name, as: UTF8.self) },
            values: fields.map { String(decoding: $0.value, as: UTF8.self) }, isDecoded: isDecoded)
    }

    /// The status code.
    open var statusCode: Int { status }

    /// All header fields. Values of fields with the same name are joined with `, `. Well-known names have their usual capitalization; other
    /// names are unchanged.
    open var allHeaderFields: [AnyHashable: Any] {
        if let known = dictionary.withLock({ $0 }) { return known.value }
        let made = Unchecked(madeDictionary())
        dictionary.withLock { $0 = made }
        return made.value
    }

    /// Returns a header field's value. Values of fields with the same name are joined with `, `. Field names are case-insensitive.
    open func value(forHTTPHeaderField field: String) -> String? {
        guard let first = fields.index(of: field) else { return nil }
        guard fields.index(of: field, from: first + 1) != nil else {
            return String(decoding: fields.value(at: first), as: UTF8.self)
        }
        return fields.values(of: field).joined(separator: ", ")
    }

    /// The media type in lower case, without parameters.
    open override var mimeType: String? { mediaType?.essence }

    /// The charset in lower case.
    open override var textEncodingName: String? { mediaType?.charset?.lowercased() }

    /// The content length in bytes, from Content-Length; -1 if it is not known or if a content coding was removed.
    open override var expectedContentLength: Int64 {
        guard !isDecoded, let index = fields.index(of: "Content-Length") else { return -1 }
        return Int64(digits: fields.value(at: index)) ?? -1
    }

    /// The suggested file name for the content.
    open override var suggestedFilename: String? {
        fields.index(of: "Content-Disposition").flatMap { SuggestedFilename.inDisposition(fields[$0].value) }
            ?? super.suggestedFilename
    }

    /// Returns a status code's description in lower case, such as `not found` for 404.
    open class func localizedString(forStatusCode statusCode: Int) -> String { StatusText.localized(statusCode) }

    /// Returns whether both responses have the same URL, status and header fields.
    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? HTTPURLResponse else { return false }
        return other === self
            || other.values == values && other.status == status && other.fields == fields
                && other.isDecoded == isDecoded
    }

    /// The hash value of the URL and status.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(values)
        hasher.combine(status)
        return hasher.finalize()
    }

    /// A textual description with the class, URL, status and header fields.
    open override var description: String {
        let text = fields.map {
            "    \"\(String(decoding: $0.name, as: UTF8.self))\" = \"\(String(decoding: $0.value, as: UTF8.self))\";\n"
        }
        return "<\(type(of: self))> { URL: \(url?.absoluteString ?? "(null)") }{ status: \(statusCode), headers {\n"
            + text.sorted().joined() + "} }"
    }

    private var mediaType: MediaType? {
        fields.index(of: "Content-Type").flatMap { MediaType(parsing: fields[$0].value) }
    }

    private func madeDictionary() -> [AnyHashable: Any] {
        var result: [String: String] = [:]
        var spelling: [String: String] = [:]
        for field in fields {
            let sent = String(decoding: field.name, as: UTF8.self)
            let name = spelling[sent.lowercased()] ?? WellKnownFields.capitalized(sent)
            spelling[sent.lowercased()] = name
            let value = String(decoding: field.value, as: UTF8.self)
            result[name] = result[name].map { $0 + ", " + value } ?? value
        }
        return result
    }
}
