internal import CausewayProtocols
internal import CausewayWire
internal import Foundation

/// A download that continues an earlier download.
struct Resumption: Sendable {
    /// What a response to a range request contains.
    enum Answer: Equatable, Sendable {
        /// The response contains the rest of the content. `total` is the length of the whole content in bytes.
        case rest(total: Int64)
        /// The response contains the whole download, or an error page. `isContent` is `true` for the whole download.
        case whole(isContent: Bool)
        /// The response cannot be used. The download starts over with a request for the whole content.
        case useless
    }

    /// The number of bytes already in the file.
    let offset: Int64
    /// The value for the field `If-Range`.
    let validator: String
    let file: URL
    /// The earlier download's resume data, which stays valid until a response arrives.
    let data: Data

    /// Returns `nil` if the download must start over, because the file or the validator is missing.
    init?(_ resume: ResumeData, data: Data) {
        guard let validator = resume.validator, let file = resume.file, let offset = resume.offset else { return nil }
        self.offset = offset
        self.validator = validator
        self.file = file
        self.data = data
    }

    /// Creates a resumption from its components.
    init(offset: Int64, validator: String, file: URL) {
        self.offset = offset
        self.validator = validator
        self.file = file
        data = Data()
    }

    /// Adds range request fields for the rest of the content (RFC 9110 §13.1.5, §14.2). The content is requested
    /// without a coding, because the content in the file has none.
    func apply(to request: inout URLRequest) {
        request.setValue("bytes=\(offset)-", forHTTPHeaderField: "Range")
        request.setValue(validator, forHTTPHeaderField: "If-Range")
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    }

    /// Evaluates the response.
    func judge(_ response: HTTPURLResponse) -> Answer {
        switch response.statusCode {
        case 206:
            guard let text = response.fields.onlyValue(of: "Content-Range"), let range = ContentRange(parsing: text),
                let positions = range.positions, let length = range.length, Int64(positions.lowerBound) == offset,
                positions.upperBound == length, !response.fields.contains("Content-Encoding"), hasSameTag(response)
            else { return .useless }
            return .rest(total: Int64(length))
        case 416: return .useless
        default: return .whole(isContent: (200..<300).contains(response.statusCode))
        }
    }

    /// Whether the response has the entity tag that the request's `If-Range` field contains. Also `true` if this field
    /// contains a date, or if the response has no entity tag.
    private func hasSameTag(_ response: HTTPURLResponse) -> Bool {
        guard validator.utf8.first == UInt8(ascii: "\""), let text = response.fields.onlyValue(of: "ETag") else {
            return true
        }
        return text.utf8.elementsEqual(validator.utf8)
    }
}
