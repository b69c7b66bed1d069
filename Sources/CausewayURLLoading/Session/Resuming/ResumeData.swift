internal import CausewayHTTPProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// A download's resume data: a property list with the same keys as Apple's, because some programs read or repair resume
/// data. The requests are nested property lists.
struct ResumeData: Codable {
    private enum CodingKeys: String, CodingKey {
        case version = "NSURLSessionResumeInfoVersion"
        case url = "NSURLSessionDownloadURL"
        case received = "NSURLSessionResumeBytesReceived"
        case original = "NSURLSessionResumeOriginalRequest"
        case current = "NSURLSessionResumeCurrentRequest"
        case entityTag = "NSURLSessionResumeEntityTag"
        case lastModified = "NSURLSessionResumeServerDownloadDate"
        case fileName = "NSURLSessionResumeInfoTempFileName"
        case boot = "CausewayBootIdentifier"
    }

    private let version: Int
    private let url: String
    /// The file size in bytes.
    let received: Int64
    private let original: ArchivedRequest?
    private let current: ArchivedRequest?
    private let entityTag: String?
    private let lastModified: String?
    private let fileName: String?
    /// The boot identifier of the system, if the download was running when the resume data was created; otherwise
    /// `nil`.
    ///
    /// After a system restart, a download with an older boot identifier starts over. The restart may have lost bytes
    /// that the download's process had written.
    private let boot: String?

    /// Returns `nil` if the download cannot be resumed. A download can be resumed after a GET request over HTTP if the
    /// response has a strong validator and no content coding, and the server does not refuse ranges (RFC 9110 §14.3).
    ///
    /// - Parameter isRunning: Whether the download continues after this call. Its file then still grows, so `received`
    ///   may be 0, and the resume data contains the system's boot identifier.
    init?(
        _ original: URLRequest, _ current: URLRequest?, _ response: HTTPURLResponse, received: Int64, file: URL,
        isRunning: Bool = false
    ) {
        guard received > 0 || isRunning, !isRunning || BootIdentifier.current != nil, original.httpMethod == "GET",
            let url = original.url,
            ["http", "https"].contains(url.scheme?.lowercased()), original.value(forHTTPHeaderField: "Range") == nil,
            [200, 206].contains(response.statusCode), !response.fields.contains("Content-Encoding"),
            response.value(forHTTPHeaderField: "Accept-Ranges")?.lowercased() != "none"
        else { return nil }
        version = 2
        self.url = url.absoluteString
        self.received = received
        self.original = ArchivedRequest(original.values)
        self.current = current.map { ArchivedRequest($0.values) }
        entityTag = RangeValidators.strongTag(of: response.fields)
        lastModified = RangeValidators.strongDate(of: response.fields, now: Int(Date().timeIntervalSince1970))
        fileName = file.lastPathComponent
        boot = isRunning ? BootIdentifier.current : nil
        guard validator != nil else { return nil }
    }

    /// Creates resume data from a download's properties.
    init(_ request: URLRequest, validator: String, received: Int64, file: URL) {
        version = 2
        url = request.url?.absoluteString ?? ""
        self.received = received
        original = ArchivedRequest(request.values)
        current = nil
        let isTag = validator.utf8.first == UInt8(ascii: "\"")
        entityTag = isTag ? validator : nil
        lastModified = isTag ? nil : validator
        fileName = file.lastPathComponent
        boot = nil
    }

    /// Reads resume data. Returns `nil` if the data has no download URL.
    init?(_ data: Data) {
        guard let read = try? PropertyListDecoder().decode(Self.self, from: data),
            let url = URL(string: read.url), url.scheme != nil
        else { return nil }
        self = read
    }

    /// Requires only the URL. Resume data from other implementations contains requests in other formats. So the
    /// requests may be missing from the result.
    init(from decoder: any Decoder) throws {
        let list = try decoder.container(keyedBy: CodingKeys.self)
        url = try list.decode(String.self, forKey: .url)
        version = (try? list.decode(Int.self, forKey: .version)) ?? 1
        received = (try? list.decode(Int64.self, forKey: .received)) ?? 0
        original = try? list.decode(ArchivedRequest.self, forKey: .original)
        current = try? list.decode(ArchivedRequest.self, forKey: .current)
        entityTag = try? list.decode(String.self, forKey: .entityTag)
        lastModified = try? list.decode(String.self, forKey: .lastModified)
        fileName = try? list.decode(String.self, forKey: .fileName)
        boot = try? list.decode(String.self, forKey: .boot)
    }

    /// The property list; `nil` if it cannot be encoded.
    var encoded: Data? {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        return try? encoder.encode(self)
    }

    /// The request to send again. Its URL comes from the resume data's value for `NSURLSessionDownloadURL`, because a
    /// program may have replaced the URL there.
    var request: URLRequest? {
        guard let url = URL(string: url) else { return nil }
        guard let original else { return URLRequest(url: url) }
        var request = URLRequest(values: original.values)
        request.url = url
        return request
    }

    /// The `If-Range` value (RFC 9110 §13.1.5); `nil` if the server sent no strong validator.
    var validator: String? { entityTag ?? lastModified }

    /// The file with the content so far. Resume data contains only the file's name, so that it cannot refer to a file
    /// outside the temporary directory.
    var file: URL? {
        // Search the name's bytes for a slash, not its characters. In Swift, a slash with a combining mark is a
        // different character from a slash. The kernel would still treat its first byte as a path separator.
        guard let fileName, !fileName.isEmpty, !fileName.utf8.contains(UInt8(ascii: "/")), fileName != "..",
            fileName != "."
        else { return nil }
        return FileManager.default.temporaryDirectory.appendingPathComponent(fileName)
    }

    /// The number of bytes to keep in the file; `nil` if the download must start over.
    ///
    /// After a process was killed, the file contains all bytes that the process had written. This is not certain if the
    /// system was restarted since.
    ///
    /// The file may already be complete. A range that begins after the last byte would then be invalid. So the last
    /// byte of the file is requested again.
    var offset: Int64? {
        guard let file, let size = FileSink.size(of: file) else { return nil }
        guard let boot else { return received > 0 && size >= received ? received : nil }
        return boot == BootIdentifier.current && size >= received && size > 1 ? size - 1 : nil
    }
}
