internal import CausewayProtocols
internal import Foundation

/// The resume data of an upload: a property list.
struct UploadResumeData: Codable {
    private enum CodingKeys: String, CodingKey {
        case version = "NSURLSessionResumeInfoVersion"
        case original = "NSURLSessionResumeOriginalRequest"
        case resource = "NSURLSessionUploadResource"
        case interop = "NSURLSessionUploadInteropVersion"
        case content = "NSURLSessionUploadContent"
    }

    /// The content of the upload.
    private struct Content: Codable {
        var data: Data?
        var path: String?
        /// What identifies the content of the file.
        var size: Int64?
        var modified: Double?
    }

    private let version: Int
    private let original: ArchivedRequest
    private let resource: String
    private let interop: Int
    private let content: Content

    /// Returns `nil` if the server has named no resource for the upload.
    init?(_ original: URLRequest, _ source: TaskPlan.Source, _ upload: ResumableUpload) {
        guard let resource = upload.resource else { return nil }
        switch source {
        case .data(let data): content = Content(data: data)
        case .file(let url):
            guard let (size, modified) = Self.identity(of: url.path) else { return nil }
            content = Content(path: url.path, size: size, modified: modified)
        case .stream: content = Content(size: upload.length)
        // The description of a form would have to contain all of its data.
        case .form, .request: return nil
        }
        version = 1
        self.original = ArchivedRequest(original.values)
        self.resource = resource.description
        interop = upload.version.rawValue
    }

    /// Reads resume data. Returns `nil` for other data.
    init?(_ data: Data) {
        guard let read = try? PropertyListDecoder().decode(Self.self, from: data) else { return nil }
        self = read
    }

    /// The property list; `nil` if it cannot be encoded.
    var encoded: Data? {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try? encoder.encode(self)
    }

    /// The first request of the upload; `nil` if its URL is invalid.
    var request: URLRequest? {
        let request = URLRequest(values: original.values)
        return request.url?.scheme == nil ? nil : request
    }

    /// Where the content comes from.
    var source: TaskPlan.Source {
        if let data = content.data { return .data(data) }
        if let path = content.path { return .file(URL(fileURLWithPath: path)) }
        return .stream
    }

    /// The upload that continues; `nil` if it starts over, because the file has changed or the resource has another origin.
    var upload: ResumableUpload? {
        guard let version = UploadVersion(rawValue: interop), let resource = URIReference(resource),
            let text = original.values.url?.absoluteString,
            let origin = URIReference(text).flatMap({ HTTPOrigin($0) }),
            HTTPOrigin(resource) == origin
        else { return nil }
        if let path = content.path {
            guard let (size, modified) = Self.identity(of: path), size == content.size, modified == content.modified
            else { return nil }
        }
        let length = content.data.map { Int64($0.count) } ?? content.size
        return ResumableUpload(continuing: resource, length: length, version: version)
    }

    /// Returns the size and the modification date of a file.
    private static func identity(of path: String) -> (size: Int64, modified: Double)? {
        guard let facts = try? FileManager.default.attributesOfItem(atPath: path), let size = facts[.size] as? NSNumber,
            let date = facts[.modificationDate] as? Date
        else { return nil }
        return (size.int64Value, date.timeIntervalSinceReferenceDate)
    }
}
