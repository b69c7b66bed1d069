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

    init() {}

    init(_ options: HTTPOutputOptions, _ request: HTTPRequestOptions) {
        showsHead = options.include || request.head
        failsForStatus = options.fail
        isVerbose = options.verbose
        showsTimeline = options.timeline
        isJSON = options.json
        hasProgressBar = !options.silent && !options.verbose
        isUpload = request.uploadFile != nil || !request.forms.isEmpty
        cookieJar = request.cookieJar
        archive = options.har
    }
}
