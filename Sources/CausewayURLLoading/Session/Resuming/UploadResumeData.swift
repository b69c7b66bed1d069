internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import Foundation

/// An upload's resume data: a property list.
struct UploadResumeData: Codable {
    private enum CodingKeys: String, CodingKey {
        case version = "NSURLSessionResumeInfoVersion"
        case original = "NSURLSessionResumeOriginalRequest"
        case resource = "NSURLSessionUploadResource"
        case interop = "NSURLSessionUploadInteropVersion"
        case content = "NSURLSessionUploadContent"
    }

    private let version: Int
    private let original: ArchivedRequest
    private let resource: String
    private let interop: Int
    private let content: UploadResumeContent

    /// Returns `nil` if the server has named no resource for the upload.
    init?(_ original: URLRequest, _ source: TaskPlan.Source, _ upload: ResumableUpload) {
        guard let resource = upload.resource else { return nil }
        guard let content = UploadResumeContent(source, length: upload.length) else { return nil }
        self.content = content
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

    /// The upload's first request; `nil` if its URL is invalid.
    var request: URLRequest? {
        let request = URLRequest(values: original.values)
        return request.url?.scheme == nil ? nil : request
    }

    /// The source of the content.
    ///
    /// - Throws: The failure if form files cannot be read.
    func source() throws(LoadFailure) -> TaskPlan.Source { try content.source() }

    /// The resumable upload that can be continued. `nil` if the file has changed, or if the upload resource has another
    /// origin. In these cases, the upload must start from the beginning.
    var upload: ResumableUpload? {
        guard let version = UploadVersion(rawValue: interop), let resource = URIReference(resource),
            let text = original.values.url?.absoluteString,
            let origin = URIReference(text).flatMap({ HTTPOrigin($0) }),
            HTTPOrigin(resource) == origin
        else { return nil }
        guard content.isUnchanged else { return nil }
        return ResumableUpload(continuing: resource, length: content.length, version: version)
    }
}
