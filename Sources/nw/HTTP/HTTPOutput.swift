import ArgumentParser

/// The output of `nw http` or `nw upload`, except the content.
struct HTTPOutput: Sendable {
    var showsHead = false
    var failsForStatus = false
    var commentary = Commentary.progressBar
    var summary = Summary.none
    var isUpload = false
    var cookieJar: String?
    var archive: String?
    var writeOut: WriteOut?
    var retry = HTTPRetry()

    /// The output during a request.
    enum Commentary {
        case none
        case progressBar
        /// The heads of all requests and responses.
        case heads
    }

    /// What to print after the request has ended.
    enum Summary {
        case none, timeline, json
    }

    init() {}

    /// - Throws: `WriteOut.InvalidTemplate` for a template that is not valid.
    init(_ options: HTTPOutputOptions, _ request: HTTPRequestOptions) throws {
        showsHead = options.include || request.head
        failsForStatus = options.fail
        commentary = options.verbose ? .heads : options.silent ? .none : .progressBar
        summary = options.json ? .json : options.timeline ? .timeline : .none
        isUpload = request.uploadFile != nil || !request.forms.isEmpty
        cookieJar = request.cookieJar
        archive = options.har
        writeOut = try options.writeOut.map { try WriteOut($0) }
        retry = HTTPRetry(limit: request.retry, delay: request.retryDelay.map { .seconds($0) })
    }
}
