internal import Causeway
public import Foundation

/// A response's metadata: everything except its content.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: all stored properties of this class are constants. Subclasses outside this module must make their own properties thread-safe.
@preconcurrency open class URLResponse: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The archived values.
    struct Values: Hashable, Codable, Sendable {
        var url: URL?
        var mimeType: String?
        var expectedContentLength: Int64
        var textEncodingName: String?
    }

    let values: Values

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - mimeType: The media type.
    ///   - length: The content length in bytes; -1 if it is not known.
    ///   - name: The charset name, as registered with IANA.
    public init(url: URL, mimeType: String?, expectedContentLength length: Int, textEncodingName name: String?) {
        values = Values(url: url, mimeType: mimeType, expectedContentLength: Int64(length), textEncodingName: name)
        super.init()
    }

    /// Creates a response without values, for subclasses with an initializer of their own.
    public override init() {
        values = Values(expectedContentLength: -1)
        super.init()
    }

    init(values: Values) {
        self.values = values
        super.init()
    }

    /// Decodes a response. Returns `nil` if the archive was not written by this module.
    public required init?(coder: NSCoder) {
        guard let values = coder.decodePropertyList(Values.self) else { return nil }
        self.values = values
        super.init()
    }

    /// Encodes the response.
    open func encode(with coder: NSCoder) { coder.encodePropertyList(values) }

    /// Whether the class supports secure coding: `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Returns this object. No copy is made because the object is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The content's URL.
    open var url: URL? { values.url }

    /// The media type in lower case, without parameters.
    open var mimeType: String? { values.mimeType }

    /// The content length in bytes; -1 if it is not known.
    open var expectedContentLength: Int64 { values.expectedContentLength }

    /// The charset in lower case.
    open var textEncodingName: String? { values.textEncodingName }

    /// The suggested file name for the content: from the Content-Disposition field, otherwise from the URL, otherwise `Unknown`. It
    /// contains no path separator.
    open var suggestedFilename: String? { SuggestedFilename.of(url) }

    /// Returns whether the values of both responses are equal.
    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? URLResponse, !(other is HTTPURLResponse) else { return false }
        return other === self || other.values == values
    }

    /// A hash value of the URL, the media type, the content length and the charset name.
    open override var hash: Int { values.hashValue }
}
