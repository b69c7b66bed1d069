internal import Causeway
public import Foundation

/// The description of loaded content, without the content.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: all stored properties of this class are constants. Subclasses of programs answer for their own.
@preconcurrency open class URLResponse: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The values of a response, which archives store.
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
    ///   - length: The number of bytes of the content; -1 if it is not known.
    ///   - name: The name of the charset, as registered with IANA.
    public init(url: URL, mimeType: String?, expectedContentLength length: Int, textEncodingName name: String?) {
        values = Values(url: url, mimeType: mimeType, expectedContentLength: Int64(length), textEncodingName: name)
        super.init()
    }

    init(values: Values) {
        self.values = values
        super.init()
    }

    /// Decodes a response. Returns `nil` for an archive that this module did not write.
    public required init?(coder: NSCoder) {
        guard let values = coder.decodePropertyList(Values.self) else { return nil }
        self.values = values
        super.init()
    }

    /// Encodes the response.
    open func encode(with coder: NSCoder) { coder.encodePropertyList(values) }

    /// Whether the class supports secure coding: `true`.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the object, because it cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The URL of the content.
    open var url: URL? { values.url }

    /// The media type in lower case, without parameters.
    open var mimeType: String? { values.mimeType }

    /// The number of bytes of the content; -1 if it is not known.
    open var expectedContentLength: Int64 { values.expectedContentLength }

    /// The charset in lower case.
    open var textEncodingName: String? { values.textEncodingName }

    /// A name for a file with the content: from the field Content-Disposition, else from the URL, else `Unknown`. It contains no
    /// path separator.
    open var suggestedFilename: String? { SuggestedFilename.of(url) }

    /// Compares the values of both responses.
    open override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? URLResponse, !(other is HTTPURLResponse) else { return false }
        return other === self || other.values == values
    }

    /// The hash of the values.
    open override var hash: Int { values.hashValue }
}
