internal import CausewayHTTP
internal import CausewayWire
public import Foundation

/// A form with text, data and files, sent as `multipart/form-data` (RFC 7578). This type is an addition to Apple's API.
///
/// Files are read in pieces while they are sent, so large files need little memory. The form's length is known before
/// sending, and is sent as `Content-Length`.
///
/// ```swift
/// var form = MultipartForm()
/// form.append("Ann", name: "author")
/// form.append(contentsOf: URL(fileURLWithPath: "photo.jpg"), name: "picture")
/// let (data, response) = try await URLSession.shared.upload(for: URLRequest(url: url), from: form)
/// ```
///
/// Names and file names are escaped as browsers do it: `"` and line ends become `%22`, `%0D` and `%0A`.
public struct MultipartForm: Sendable {
    private enum Content: Sendable {
        case data(Data)
        case file(URL)
    }

    private let limit: MultipartBoundary
    private var parts: [(part: MultipartPart, content: Content)] = []

    /// Creates a form without parts, and chooses a random boundary.
    public init() {
        var random = SystemRandomNumberGenerator()
        limit = MultipartBoundary(using: &random)
    }

    /// Creates a form without parts. No part may contain the boundary.
    ///
    /// - Parameter boundary: 1 to 70 characters that RFC 2046 §5.1.1 permits. The result is `nil` for other texts.
    public init?(boundary: String) {
        guard let limit = MultipartBoundary(boundary) else { return nil }
        self.limit = limit
    }

    /// The delimiter between the parts.
    public var boundary: String { limit.text }

    /// The `Content-Type` value, with the boundary.
    public var contentType: String { limit.formType }

    /// The number of parts.
    public var count: Int { parts.count }

    // MARK: Parts

    /// Appends a text field. Line ends become CRLF, as in browsers.
    public mutating func append(_ text: String, name: String) {
        parts.append((MultipartPart(name: name), .data(Data(MultipartPart.withLineEnds(text).utf8))))
    }

    /// Appends data.
    ///
    /// - Parameters:
    ///   - data: The part's content.
    ///   - name: The form field's name.
    ///   - fileName: The file name; `nil` if the part is not a file.
    ///   - contentType: The media type. If it is `nil` or not a media type, the extension of `fileName` determines the
    ///     type. If `fileName` is also `nil`, the part is sent without a media type.
    public mutating func append(_ data: Data, name: String, fileName: String? = nil, contentType: String? = nil) {
        let type = Self.mediaType(contentType) ?? fileName.map(Self.mediaType(ofFile:))
        parts.append((MultipartPart(name: name, filename: fileName, mediaType: type), .data(data)))
    }

    /// Appends a file, which is read while the form is sent. The file must keep its size from the creation of the upload task to the end of the
    /// upload; otherwise the task fails with `URLError.cannotOpenFile`.
    ///
    /// - Parameters:
    ///   - file: The URL of a regular file.
    ///   - name: The form field's name.
    ///   - fileName: The file name to send; `nil` for the file's own name.
    ///   - contentType: The media type. If it is `nil` or not a media type, the file name's extension determines it.
    public mutating func append(
        contentsOf file: URL, name: String, fileName: String? = nil, contentType: String? = nil
    ) {
        let fileName = fileName ?? file.lastPathComponent
        let type = Self.mediaType(contentType) ?? Self.mediaType(ofFile: fileName)
        parts.append((MultipartPart(name: name, filename: fileName, mediaType: type), .file(file)))
    }

    /// Returns `text` unchanged if it is a valid media type; otherwise `nil`. This check prevents that the text adds
    /// header fields or parts to the message.
    private static func mediaType(_ text: String?) -> String? {
        guard let text, MediaType(parsing: text) != nil, text.utf8.allSatisfy(HTTPCharacters.isFieldValue) else {
            return nil
        }
        return text
    }

    private static func mediaType(ofFile name: String) -> String {
        FileMediaType.of(URL(fileURLWithPath: name)) ?? MediaType.unknown
    }

    // MARK: Encoding

    /// Returns the encoded form's length in bytes. Looks up the file sizes.
    ///
    /// - Throws: `URLError` if a file is missing or cannot be read.
    public func contentLength() throws -> Int64 { try presenting { () throws(LoadFailure) in try content().count } }

    /// Returns the encoded form, for small forms and for tests. The files are read into memory.
    ///
    /// - Throws: `URLError` if a file is missing or cannot be read.
    public func encoded() throws -> Data {
        try presenting { () throws(LoadFailure) in
            let reader = MultipartReader(try content())
            var data = Data()
            do throws(MultipartFailure) {
                while let piece = try reader.read(atMost: 1 << 20) { data += piece }
            } catch {
                throw LoadFailure(error)
            }
            return data
        }
    }

    /// Returns a stream of the encoded form. The stream reads the files while it is read itself.
    ///
    /// Use it for `httpBodyStream`, or in a delegate method that must supply a new body stream. An upload task with a
    /// form needs no such stream.
    ///
    /// - Throws: `URLError` if a file is missing or cannot be read.
    public func makeInputStream() throws -> InputStream {
        try presenting { () throws(LoadFailure) in FormInputStream(try content()) }
    }

    private func presenting<Result>(_ body: () throws(LoadFailure) -> Result) throws -> Result {
        do throws(LoadFailure) { return try body() } catch { throw error.urlError(for: nil) }
    }

    /// Returns the upload content. Looks up the file sizes.
    func content() throws(LoadFailure) -> MultipartContent {
        var content = MultipartContent()
        do throws(MultipartFailure) {
            for (index, (part, source)) in parts.enumerated() {
                // This call does not throw. The method `head(after:isFirst:)` throws only for an invalid media type.
                // But `append` has accepted only valid media types.
                try content.append((try? part.head(after: limit, isFirst: index == 0)) ?? [])
                switch source {
                case .data(let data): try content.append(data)
                case .file(let url): try content.append(file: url.isFileURL ? url.path : "")
                }
            }
            try content.append(MultipartPart.end(limit, isEmpty: parts.isEmpty))
        } catch {
            throw LoadFailure(error)
        }
        return content
    }
}

extension LoadFailure {
    /// Creates the failure for a form that cannot be read.
    init(_ failure: MultipartFailure) {
        let cause: Cause =
            switch failure {
            case .missing: .fileMissing
            case .notRegular: .fileIsDirectory
            case .unreadable: .fileUnreadable
            case .changed: .fileChanged
            case .tooLong: .tooLarge
            }
        self.init(cause, underlying: failure)
    }
}
