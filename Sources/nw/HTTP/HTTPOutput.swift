import ArgumentParser

/// What a run of `nw http` prints besides the content.
struct HTTPOutput: Sendable {
    var showsHead: Bool
    var failsForStatus: Bool
    var isVerbose: Bool
    var showsTimeline: Bool
    var isJSON: Bool
    var hasProgressBar: Bool
    var isUpload: Bool
    var cookieJar: String?
    var archive: String?

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
