import ArgumentParser

/// What a run of `nw http` or `nw upload` prints besides the content.
struct HTTPOutput: Sendable {
    var showsHead = false
    var failsForStatus = false
    var isVerbose = false
    var showsTimeline = false
    var isJSON = false
    var hasProgressBar = true
    var isUpload = false
    var cookieJar: String?
    var archive: String?
    var writeOut: WriteOut?
    var retry = HTTPRetry()

    init() {}

    /// - Throws: `WriteOut.InvalidTemplate` for a template that is not valid.
    init(_ options: HTTPOutputOptions, _ request: HTTPRequestOptions) throws {
        showsHead = options.include || request.head
        failsForStatus = options.fail
        isVerbose = options.verbose
        showsTimeline = options.timeline
        isJSON = options.json
        hasProgressBar = !options.silent && !options.verbose
        isUpload = request.uploadFile != nil || !request.forms.isEmpty
        cookieJar = request.cookieJar
        archive = options.har
        writeOut = try options.writeOut.map { try WriteOut($0) }
        retry = HTTPRetry(limit: request.retry, delay: request.retryDelay.map { .seconds($0) })
    }
}
