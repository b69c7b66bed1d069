internal import CausewayHTTP
internal import Foundation

/// An upload's content as described in resume data. File contents are not copied.
struct UploadResumeContent: Codable {
    /// One part of a form. Its content is either bytes or a file.
    private struct Part: Codable {
        var data: Data?
        var file: UploadResumeContent?
    }

    private var data: Data?
    private var path: String?
    /// The size of the file, or of the content of a form or stream, in bytes. A file counts as unchanged if its size
    /// and modification date are unchanged.
    private var size: Int64?
    private var modified: Double?
    private var parts: [Part]?

    private init() {}

    /// Creates the resume data's content. Returns `nil` if a file is missing. Also returns `nil` if the content is the
    /// request's own body, because the task is then not an upload task.
    init?(_ source: TaskPlan.Source, length: Int64?) {
        self.init()
        switch source {
        case .data(let content): data = content
        case .file(let url):
            guard let file = UploadResumeContent(file: url.path) else { return nil }
            self = file
        case .stream: size = length
        case .form(let content):
            var parts: [Part] = []
            for piece in content.pieces {
                switch piece {
                case .bytes(let bytes): parts.append(Part(data: bytes))
                case .file(let path, _):
                    guard let file = UploadResumeContent(file: path) else { return nil }
                    parts.append(Part(file: file))
                }
            }
            self.parts = parts
            size = content.count
        case .request: return nil
        }
    }

    private init?(file path: String) {
        guard let (size, modified) = Self.identity(of: path) else { return nil }
        self.init()
        (self.path, self.size, self.modified) = (path, size, modified)
    }

    /// The length in bytes; `nil` if it is not known.
    var length: Int64? { data.map { Int64($0.count) } ?? size }

    /// Whether all files are unchanged since the earlier upload.
    var isUnchanged: Bool {
        if let parts { return parts.allSatisfy { $0.file?.isUnchanged ?? true } }
        guard let path else { return true }
        guard let (size, modified) = Self.identity(of: path) else { return false }
        return size == self.size && modified == self.modified
    }

    /// The source of the upload content. For a form, the sizes of its files are read again.
    ///
    /// - Throws: The failure if form files cannot be read.
    func source() throws(LoadFailure) -> TaskPlan.Source {
        if let data { return .data(data) }
        if let path { return .file(URL(fileURLWithPath: path)) }
        guard let parts else { return .stream }
        var form = MultipartContent()
        do throws(MultipartFailure) {
            for part in parts {
                if let path = part.file?.path {
                    try form.append(file: path)
                } else {
                    try form.append(part.data ?? Data())
                }
            }
        } catch {
            throw LoadFailure(error)
        }
        return .form(form)
    }

    /// Returns a file's size and modification date.
    private static func identity(of path: String) -> (size: Int64, modified: Double)? {
        guard let facts = try? FileManager.default.attributesOfItem(atPath: path), let size = facts[.size] as? NSNumber,
            let date = facts[.modificationDate] as? Date
        else { return nil }
        return (size.int64Value, date.timeIntervalSinceReferenceDate)
    }
}
