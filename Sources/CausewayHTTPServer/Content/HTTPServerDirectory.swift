internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import FoundationEssentials

/// Serves a directory's files.
///
/// A request never leaves the directory: symbolic links and `..`, also percent-encoded, are refused (RFC 9110 §17.3).
/// Names that begin with a dot are neither listed nor served.
///
/// ```swift
/// let files = try HTTPServerDirectory("/srv/www")
/// routes.get("/files/{path...}") { request in try await files.respond(to: request, path: request.parameters["path"] ?? "") }
/// ```
public final class HTTPServerDirectory: Sendable {
    /// What clients may do in addition to reading files.
    public struct Options: OptionSet, Sendable {
        /// The set's raw value.
        public let rawValue: Int
        /// Creates a set from a raw value.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Clients may list directories that have no `index.html`.
        public static let listing = Options(rawValue: 1)
        /// Clients may create files with PUT. Existing files are not replaced.
        public static let uploads = Options(rawValue: 2)
    }

    private static let slash = UInt8(ascii: "/")

    private let descriptor: Int32
    private let options: Options

    /// Opens a directory.
    ///
    /// - Throws: ``HTTPServerError`` with status 404 if the directory does not exist, 403 if permission is denied, 503
    ///   if descriptors or memory are short, and 500 after another error.
    public init(_ path: String, options: Options = []) throws(HTTPServerError) {
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard opened >= 0 else { throw ServedFile.failure(errno) }
        descriptor = opened
        self.options = options
    }

    deinit { close(descriptor) }

    /// Responds to a request for the file or directory at a path.
    ///
    /// - Parameters:
    ///   - request: The request, whose method is `GET`, `HEAD` or, if uploads are permitted, `PUT`.
    ///   - path: The path below the directory, without percent-encoding.
    /// - Throws: ``HTTPServerError`` with the refusal's status; for an upload, also the error from reading the content.
    public func respond(to request: HTTPServerRequest, path: String) async throws -> HTTPServerResponse {
        let names = try Self.names(of: path)
        switch request.method {
        case "GET", "HEAD": return try read(names, request, isDirectory: path.isEmpty || path.utf8.last == Self.slash)
        case "PUT" where options.contains(.uploads): return try await store(names, request)
        default:
            var response = HTTPServerResponse.status(405)
            response.fields["Allow"] = options.contains(.uploads) ? "GET, HEAD, PUT" : "GET, HEAD"
            return response
        }
    }

    /// Splits a path into names, and refuses names that would leave the directory or that are hidden.
    static func names(of path: String) throws(HTTPServerError) -> [String] {
        // Split at bytes, not characters: a slash before a combining mark is still a slash for the kernel.
        let names = path.utf8.split(separator: slash)
        guard names.allSatisfy({ $0.first != UInt8(ascii: ".") && !$0.contains(0) && $0.count <= 255 }) else {
            throw HTTPServerError(status: 404)
        }
        return names.map { String(Substring($0)) }
    }

    // MARK: Reading

    private func read(
        _ names: [String], _ request: HTTPServerRequest, isDirectory: Bool
    ) throws(HTTPServerError) -> HTTPServerResponse {
        let found = try DirectoryWalk(from: descriptor, names)
        guard found.isDirectory else {
            guard !isDirectory else { throw HTTPServerError(status: 404) }
            return HTTPServerResponse.response(
                of: try found.takeFile(), type: MediaTypes.type(ofFile: names.last ?? ""))
        }
        guard isDirectory else {
            // Redirect to the path with a slash at its end. Relative links in a listing or an index page are only
            // correct with this slash.
            let query = request.query.map { "?\($0)" } ?? ""
            return .redirect(to: Self.location(of: request.path) + "/" + query, status: 301)
        }
        // An index page that cannot be read is not missing: the directory must not be listed in its place.
        if try found.containsFile("index.html") {
            let index = try DirectoryWalk(from: found.descriptor, ["index.html"])
            return HTTPServerResponse.response(
                of: try index.takeFile(), type: "text/html; charset=utf-8")
        }
        guard options.contains(.listing) else { throw HTTPServerError(status: 403) }
        return .html(DirectoryListing.page(names, try found.entries(), isRoot: names.isEmpty))
    }

    // MARK: Uploads

    /// Stores a request's content in a new file (RFC 9110 §9.3.4, §15.3.2). The file gets its name when it is complete. If the file exists,
    /// the status is 409 (RFC 9110 §15.5.10).
    private func store(_ names: [String], _ request: HTTPServerRequest) async throws -> HTTPServerResponse {
        guard let name = names.last, request.path.utf8.last != Self.slash else { throw HTTPServerError(status: 409) }
        guard !request.fields.contains("Content-Range") else {
            throw HTTPServerError(status: 400, "Content-Range with PUT")
        }
        // Refuse a name with control characters. A terminal that shows the name could interpret them as control
        // sequences.
        guard PrintableText(foreign: name).text == name else {
            throw HTTPServerError(status: 400, "the name has control characters")
        }
        let folder = try DirectoryWalk(from: descriptor, Array(names.dropLast()))
        guard folder.isDirectory else { throw HTTPServerError(status: 409) }
        guard try !folder.contains(name) else { throw HTTPServerError(status: 409, "the file exists") }
        // The file does not exist, so `If-Match` fails (RFC 9110 §13.1.1).
        let outcome = HTTPPreconditions.evaluate(request.fields.section, method: "PUT", nil, now: time(nil))
        guard outcome == .proceed else { throw HTTPServerError(status: 412) }
        let upload = try NewFile(in: folder, named: name)
        for try await piece in request.body { try upload.write(piece) }
        try upload.finish()
        return HTTPServerResponse(
            status: 201, fields: ["Location": Self.location(of: request.path)])
    }

    /// Returns a request path as a URL path on this server.
    ///
    /// The result has exactly one leading slash, because two slashes would begin a host name. Browsers treat a
    /// backslash as a slash, so it is percent-encoded. All other bytes that a path must not contain are encoded too.
    static func location(of path: String) -> String {
        "/" + PercentCoding.encoded(path.utf8.drop { $0 == slash }, where: URIBytes.isContent)
    }
}
